/**
 * The places of an imported model's constants: those of the file are not moved and form one pool, the file's own memory; those that
 * the import adds are in `operandValues`.
 */
import type { DataLocation, Memory } from "@nnhal/types";
import { ensure } from "../error.ts";
import type { TfliteModel } from "../model.ts";

/** Constants that the import adds are mostly scalars; a model that asks for more than this is made to exhaust memory. */
const MOST_ADDED_BYTES = 2 ** 26;

/** The memory that contains the file's constants. */
interface Pool {
  readonly bytes: Uint8Array;
  has(data: Uint8Array): boolean;
  offsetOf(data: Uint8Array): number;
}

/** The constants of a model under construction. */
export interface Constants {
  /** Whether a value is one of the file's own constants. */
  has(data: Uint8Array): boolean;
  /** The place of one of the file's own constants. */
  locate(data: Uint8Array): DataLocation;
  /** Adds a constant to `operandValues`. */
  add(value: Uint8Array, path: string): DataLocation;
  finish(): { readonly operandValues: Uint8Array; readonly pools: readonly Memory[] };
}

function tensorData(model: TfliteModel): Uint8Array[] {
  return model.subgraphs.flatMap(({ tensors }) => tensors.flatMap(({ data }) => (data ? [data] : [])));
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
function packed(parts: readonly Uint8Array[]): Pool {
  const offsets = new Map<Uint8Array, number>();
  let size = 0;
  for (const part of parts) {
    if (offsets.has(part)) continue;
    offsets.set(part, size);
    size += Math.ceil(part.length / 16) * 16;
  }
  const bytes = new Uint8Array(size);
  for (const [part, offset] of offsets) bytes.set(part, offset);
  return { bytes, has: (data) => offsets.has(data), offsetOf: (data) => offsets.get(data) ?? 0 };
}

function view(bytes: Uint8Array): Pool {
  return {
    bytes,
    has: ({ buffer }) => buffer === bytes.buffer,
    offsetOf: (data) => data.byteOffset - bytes.byteOffset,
  };
}

function poolOf(model: TfliteModel, file: Uint8Array | undefined): Pool {
  if (file !== undefined) return view(file);
  const parts = tensorData(model);
  const [first] = parts;
  if (first === undefined) return view(new Uint8Array(0));
  const { buffer } = first;
  return parts.every((part) => part.buffer === buffer) ? view(spanOf(buffer, parts)) : packed(parts);
}

/** The constants of a model; `file`: the memory that all of them are views of, if there is one. */
export function createConstants(model: TfliteModel, file?: Uint8Array): Constants {
  const pool = poolOf(model, file);
  const added: { readonly offset: number; readonly value: Uint8Array }[] = [];
  let size = 0;
  let isPoolUsed = false;
  return {
    has: pool.has,
    locate(data) {
      isPoolUsed = true;
      return { poolIndex: 0, offset: pool.offsetOf(data), length: data.length };
    },
    add(value, path) {
      // The alignment of operandValues in the NNAPI runtime: 2 for two or three bytes, 4 for more.
      const alignment = value.length >= 4 ? 4 : value.length >= 2 ? 2 : 1;
      const offset = Math.ceil(size / alignment) * alignment;
      size = offset + value.length;
      ensure(size <= MOST_ADDED_BYTES, path, () => `constants added to the model exceed ${MOST_ADDED_BYTES} bytes`);
      added.push({ offset, value });
      return { poolIndex: 0, offset, length: value.length };
    },
    finish() {
      const operandValues = new Uint8Array(size);
      for (const { offset, value } of added) operandValues.set(value, offset);
      const { buffer, byteOffset, length } = pool.bytes;
      const memory: Memory = { name: "ashmem", size: length, handle: { kind: "buffer", buffer, byteOffset } };
      return { operandValues, pools: isPoolUsed ? [memory] : [] };
    },
  };
}
