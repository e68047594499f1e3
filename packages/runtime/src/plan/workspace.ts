/**
 * Workspaces: the memory for what lies between the steps of a plan, or for the state of a loop. Each run has one for
 * itself; it is taken at the first run, not when the plan is prepared, and a few stay for the runs that follow.
 *
 * A value that one device alone uses lies in a buffer of that device where it has memory of its own, so that nothing is read
 * back in between; all others share one region of plain memory, by their lifetimes.
 */
import { allocateMemory } from "@nnhal/driver-core/memory";
import type { IBuffer } from "@nnhal/types";
import type { Logger } from "@nnhal/utils";
import { allocateFor } from "./device-memory.ts";
import type { DeviceRole } from "./device-role.ts";
import { onlyDevice } from "./device-role.ts";
import { type Layout, type Lifetime, layOut } from "./layout.ts";
import { type Place, poolOf } from "./place.ts";

/** A value that needs a place: see `Lifetime`, whose `operand` is any number that tells values apart. */
export interface Value extends Lifetime {
  readonly dimensions: readonly number[];
  /** Who uses it; null where the runtime itself does. */
  readonly roles: readonly DeviceRole[] | null;
}

/** Places for one run. */
export interface Workspace {
  /** By value, in the order in which they were given. */
  readonly places: readonly Place[];
  readonly buffers: readonly IBuffer[];
}

/** The workspaces of a plan or loop. */
export interface Workspaces {
  /** One that no run uses at the moment, or a new one. */
  take(): Workspace | Promise<Workspace>;
  /** Takes one back. A few are kept, for runs at the same time. */
  giveBack(workspace: Workspace): void;
  /** Frees those that no run uses. */
  release(): void;
  /** The same, and frees others when they are given back. */
  close(): void;
}

const MOST_KEPT = 4;

const nothing: Workspace = { places: [], buffers: [] };

/** Workspaces for some values; none is taken yet. */
export function createWorkspaces(values: readonly Value[], log: Logger): Workspaces {
  const idle: Workspace[] = [];
  let closed = false;
  /** Which values lie in devices' memory: what the first workspace has found out. */
  let arrangement: Promise<Arrangement> | undefined;
  const make = async (): Promise<Workspace> => {
    if (arrangement === undefined) {
      const first = allocateAll(values, log);
      arrangement = first.then((buffers) => arrange(values, buffers));
      return placesFor(values, await arrangement, await first, log);
    }
    const arranged = await arrangement;
    const wanted = values.map((value, index) => (arranged.onDevice[index] ? value : undefined));
    return placesFor(values, arranged, await allocateAll(wanted, log), log);
  };
  const release = () => {
    for (const workspace of idle.splice(0)) free(workspace, log);
  };
  return {
    take: () => (values.length === 0 ? nothing : (idle.pop() ?? make())),
    giveBack(workspace) {
      if (workspace === nothing) return;
      if (!closed && idle.length < MOST_KEPT) idle.push(workspace);
      else free(workspace, log);
    },
    release,
    close() {
      closed = true;
      release();
    },
  };
}

function free({ places, buffers }: Workspace, log: Logger): void {
  log.VLOG("MEMORY", () => `a workspace for ${places.length} values is freed, with ${buffers.length} device buffers`);
  for (const buffer of buffers) buffer.close?.();
}

/** By value whether it lies in a device's memory, and where in the region the others lie. */
interface Arrangement {
  readonly onDevice: readonly boolean[];
  readonly layout: Layout;
}

function arrange(values: readonly Value[], buffers: readonly (Allocated | undefined)[]): Arrangement {
  const onDevice = buffers.map((buffer) => buffer !== undefined);
  return { onDevice, layout: layOut(values.filter((_, index) => !onDevice[index])) };
}

interface Allocated {
  readonly buffer: IBuffer;
  readonly token: number;
}

/** By value its buffer; undefined where no device has one for it. */
function allocateAll(values: readonly (Value | undefined)[], log: Logger): Promise<(Allocated | undefined)[]> {
  return Promise.all(values.map((value) => value && allocateOn(value, log)));
}

async function allocateOn({ roles, dimensions }: Value, log: Logger): Promise<Allocated | undefined> {
  if (roles === null || onlyDevice(roles)?.allocate === undefined) return undefined;
  const weighted = roles.map((role) => ({ role, frequency: 1 }));
  const { buffer, token, inHostMemory } = await allocateFor({ dimensions }, weighted, log);
  if (buffer === null) return undefined;
  if (inHostMemory !== true) return { buffer, token };
  // Nothing would be gained: plain memory can be shared by lifetimes.
  buffer.close?.();
  return undefined;
}

/** The places of a workspace. A buffer that could not be had this time is made good by memory. */
function placesFor(
  values: readonly Value[],
  { onDevice, layout }: Arrangement,
  buffers: readonly (Allocated | undefined)[],
  log: Logger,
): Workspace {
  const region = layout.size === 0 ? undefined : poolOf(allocateMemory(layout.size));
  const places = values.map(({ operand, size, dimensions }, index): Place => {
    const own = buffers[index];
    if (own !== undefined) {
      const { buffer, token } = own;
      return { pool: { kind: "token", token }, offset: 0, length: 0, dimensions, buffer };
    }
    if (region !== undefined && !onDevice[index]) {
      return { pool: region, offset: layout.offsets.get(operand) ?? 0, length: size, dimensions };
    }
    return { pool: poolOf(allocateMemory(Math.max(size, 1))), offset: 0, length: size, dimensions };
  });
  log.VLOG("MEMORY", () => {
    const onDevices = buffers.filter((buffer) => buffer !== undefined).length;
    return `a workspace for ${values.length} values: ${layout.size} bytes of plain memory, ${onDevices} device buffers`;
  });
  return { places, buffers: buffers.flatMap((one) => one?.buffer ?? []) };
}
