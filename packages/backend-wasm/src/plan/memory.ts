/** Addresses of regions in one memory: constants first, then the others, of which those that are never needed together may share bytes. */

import { StatusError } from "@nnhal/backend";
import { elementAt } from "@nnhal/operations";
import { ErrorStatus } from "@nnhal/types";
import type { PlannedRegion } from "./builder.ts";
import { mostBytes, type PlacedRegion, type Region, SLACK, type Step } from "./plan.ts";
import { readsOf, writesOf } from "./uses.ts";

const alignment = 64;

/** Where the regions lie. */
export interface Layout {
  readonly regions: readonly PlacedRegion[];
  readonly memory: number;
  readonly constants: number;
}

interface Living {
  readonly region: Region;
  readonly bytes: number;
  readonly first: number;
  readonly last: number;
  address: number;
}

/** Lays regions out. `inputs` are written before the first step, `outputs` read after the last. */
export function layOutMemory(
  regions: readonly PlannedRegion[],
  steps: readonly Step[],
  inputs: Iterable<Region>,
  outputs: Iterable<Region>,
): Layout {
  const spans = new Map<Region, { first: number; last: number }>();
  const use = (region: Region, place: number) => {
    const span = spans.get(region);
    if (span === undefined) spans.set(region, { first: place, last: place });
    else span.last = place;
  };
  for (const region of inputs) use(region, -1);
  for (const [place, step] of steps.entries()) {
    for (const region of readsOf(step)) use(region, place);
    for (const region of writesOf(step)) use(region, place);
  }
  for (const region of outputs) use(region, steps.length);
  let constants = alignment;
  const placed: PlacedRegion[] = regions.map(({ bytes, make }, region) => {
    if (make === undefined || !spans.has(region)) return { address: 0, bytes };
    const made = make();
    const address = constants;
    constants += roundUp(made.byteLength);
    return { address, bytes: made.byteLength, data: ArrayBuffer.isView(made) ? bytesOf(made) : made };
  });
  const living: Living[] = [];
  for (const [region, { first, last }] of spans) {
    const { bytes = 0, make } = regions[region] ?? {};
    if (make === undefined) living.push({ region, bytes: roundUp(bytes), first, last, address: 0 });
  }
  let memory = constants + SLACK;
  for (const each of arrange(living, constants)) {
    placed[each.region] = { address: each.address, bytes: regions[each.region]?.bytes ?? 0 };
    memory = Math.max(memory, each.address + each.bytes + SLACK);
  }
  if (memory > mostBytes) {
    const message = `the network needs ${memory} bytes of memory, more than the ${mostBytes} that WebAssembly can have here`;
    throw new StatusError(ErrorStatus.RESOURCE_EXHAUSTED_PERSISTENT, message);
  }
  return { regions: placed, memory, constants };
}

/** Regions with addresses: the largest first, each as low as those that live at the same time allow. */
function arrange(living: readonly Living[], start: number): readonly Living[] {
  /** Those that have an address, by their addresses. */
  const done: Living[] = [];
  for (const each of living.toSorted((a, b) => b.bytes - a.bytes || a.first - b.first)) {
    let address = start;
    let place = 0;
    for (; place < done.length; place++) {
      const other = elementAt(done, place);
      if (other.first > each.last || other.last < each.first) continue;
      if (address + each.bytes <= other.address) break;
      address = Math.max(address, other.address + other.bytes);
    }
    each.address = address;
    while (place > 0 && elementAt(done, place - 1).address > address) place--;
    done.splice(place, 0, each);
  }
  return done;
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function roundUp(bytes: number): number {
  return Math.ceil((bytes + SLACK) / alignment) * alignment;
}
