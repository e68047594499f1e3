/**
 * The places of an imported model's constants: those of the file are not moved and form one pool, the file's own memory, as do those of
 * each memory outside of it; those of the file that must be expanded form another; those that the import adds are in `operandValues`.
 */
import type { DataLocation, Memory } from "@nnhal/types";
import { ensure, type Place } from "../error.ts";
import type { TfliteModel, TfliteTensor } from "../model.ts";
import { expanding } from "./expanding.ts";
import { packings } from "./packed-types.ts";
import type { Expander } from "./stored.ts";

/** Constants that the import adds are mostly scalars; a model that asks for more than this is made to exhaust memory. */
const MOST_ADDED_BYTES = 2 ** 26;

/** The memory that contains the file's constants. */
interface Pool {
  readonly bytes: Uint8Array;
  /** Undefined for bytes that are not in the pool. */
  offsetOf(data: Uint8Array): number | undefined;
}

/** The constants of a model under construction. */
export interface Constants {
  /** All elements of one of the file's constants. */
  elementsOf(tensor: TfliteTensor, data: Uint8Array, elementSize: number, place: Place): Uint8Array;
  /** The elements of one of the file's FLOAT16 constants as FLOAT32. */
  widen(data: Uint8Array, place: Place): Uint8Array;
  /** The place of one of the file's own constants, in a pool; undefined for other bytes. */
  locate(data: Uint8Array): DataLocation | undefined;
  /** Adds a constant to `operandValues`. */
  add(value: Uint8Array, place: Place): DataLocation;
  /** Returns a function that takes back what was added since. */
  mark(): () => void;
  finish(): { readonly operandValues: Uint8Array; readonly pools: readonly Memory[] };
}

/** The smallest range of `buffer` that holds all of `parts`. */
function spanOf(buffer: ArrayBufferLike, parts: readonly Uint8Array[]): Uint8Array {
  let start = Number.POSITIVE_INFINITY;
  let end = 0;
  for (const { byteOffset, length } of parts) {
    start = Math.min(start, byteOffset);
    end = Math.max(end, byteOffset + length);
  }
  return new Uint8Array(buffer, start, end - start);
}

/** Copies parts of several buffers into one, each at a multiple of 16 bytes. */
function pack(parts: readonly Uint8Array[]): Pool {
  const offsets = new Map<Uint8Array, number>();
  let size = 0;
  for (const part of parts) {
    if (offsets.has(part)) continue;
    offsets.set(part, size);
    size += Math.ceil(part.length / 16) * 16;
  }
  const bytes = new Uint8Array(size);
  for (const [part, offset] of offsets) bytes.set(part, offset);
  return { bytes, offsetOf: (data) => offsets.get(data) };
}

function view(bytes: Uint8Array): Pool {
  return {
    bytes,
    offsetOf({ buffer, byteOffset, length }) {
      const offset = byteOffset - bytes.byteOffset;
      return buffer === bytes.buffer && offset >= 0 && offset + length <= bytes.length ? offset : undefined;
    },
  };
}

/**
 * The memory that contains a model's constants. `file`: the memory that those are views of which do not lie outside of it, if there is one.
 * Constants outside of the file are not moved either.
 */
function poolsOf(model: TfliteModel, file: Uint8Array | undefined): Pool[] {
  const own = file && view(file);
  const inside: Uint8Array[] = [];
  const outside = new Map<ArrayBufferLike, Uint8Array[]>();
  for (const { data, external } of model.subgraphs.flatMap(({ tensors }) => tensors)) {
    if (data === undefined || own?.offsetOf(data) !== undefined) continue;
    const list = external === undefined ? inside : (outside.get(data.buffer) ?? []);
    list.push(data);
    if (list !== inside) outside.set(data.buffer, list);
  }
  const pools = [...outside].map(([buffer, parts]) => view(spanOf(buffer, parts)));
  const [first] = inside;
  if (own !== undefined) return [own, ...pools];
  if (first === undefined) return pools;
  const { buffer } = first;
  // A model that was made by hand may have a memory for each constant.
  const isOne = inside.every((part) => part.buffer === buffer);
  return [isOne ? view(spanOf(buffer, inside)) : pack(inside), ...pools];
}

function memoryOf({ buffer, byteOffset, length }: Uint8Array): Memory {
  return { name: "ashmem", size: length, handle: { kind: "buffer", buffer, byteOffset } };
}

/** The constants of a model; `file`: the memory that those are views of which do not lie outside of it, if there is one. */
export function createConstants(model: TfliteModel, file?: Uint8Array): Constants {
  const memories = poolsOf(model, file).map((pool) => ({ ...pool, memory: () => memoryOf(pool.bytes) }));
  let expander: Expander | undefined;
  const expanded = new Map<Uint8Array, number>();
  let expandedSize = 0;
  /** The pools in use, in the order of their indexes. */
  const pools: (() => Memory)[] = [];
  const added: { readonly offset: number; readonly value: Uint8Array }[] = [];
  let size = 0;
  const poolIndex = (memory: () => Memory) => {
    if (!pools.includes(memory)) pools.push(memory);
    return pools.indexOf(memory);
  };
  const expandedMemory = () => {
    const bytes = new Uint8Array(expandedSize);
    for (const [data, offset] of expanded) bytes.set(data, offset);
    return memoryOf(bytes);
  };
  const openDevice = () => {
    expander ??= expanding().createExpander(memories.reduce((sum, { bytes }) => sum + bytes.length, 0));
    return expander;
  };
  return {
    elementsOf(tensor, data, elementSize, place) {
      if (tensor.sparsity === undefined && packings[tensor.type] === undefined) return data;
      return openDevice().expand(tensor, data, elementSize, place);
    },
    widen: (data, place) => openDevice().widen(data, place),
    locate(data) {
      const { length } = data;
      for (const { offsetOf, memory } of memories) {
        const offset = offsetOf(data);
        if (offset !== undefined) return { poolIndex: poolIndex(memory), offset, length };
      }
      if (!expander?.has(data)) return undefined;
      const place = expanded.get(data) ?? Math.ceil(expandedSize / 16) * 16;
      if (!expanded.has(data)) {
        expanded.set(data, place);
        expandedSize = place + length;
      }
      return { poolIndex: poolIndex(expandedMemory), offset: place, length };
    },
    add(value, place) {
      // The alignment of operandValues in the NNAPI runtime: 2 for two or three bytes, 4 for more.
      const alignment = value.length >= 4 ? 4 : value.length >= 2 ? 2 : 1;
      const offset = Math.ceil(size / alignment) * alignment;
      size = offset + value.length;
      ensure(size <= MOST_ADDED_BYTES, place, () => `constants added to the model exceed ${MOST_ADDED_BYTES} bytes`);
      added.push({ offset, value });
      return { poolIndex: 0, offset, length: value.length };
    },
    mark() {
      const before = { size, count: added.length };
      return () => {
        size = before.size;
        added.length = before.count;
      };
    },
    finish() {
      const operandValues = new Uint8Array(size);
      for (const { offset, value } of added) operandValues.set(value, offset);
      return { operandValues, pools: pools.map((memory) => memory()) };
    },
  };
}
