/**
 * Placing values in pools: each value gets an aligned offset, and all are copied in once the size is known.
 */
import type { DataLocation, Memory } from "@nnhal/types";

/** Offsets are multiples of this, enough for every element type of the HAL. */
const alignment = 4;

/** A pool in the making. */
export interface Layout {
  /** Reserves room for `length` bytes and `gap` bytes after them. */
  reserve(length: number, gap?: number): DataLocation;
  /** Reserves room for a value. */
  add(value: Uint8Array): DataLocation;
  /** The size so far. */
  readonly size: number;
  /** Copies the added values to their places. */
  copyTo(bytes: Uint8Array): void;
}

/** Starts a pool that will have index `poolIndex`. */
export function createLayout(poolIndex = 0): Layout {
  const values: { readonly offset: number; readonly value: Uint8Array }[] = [];
  let size = 0;
  const reserve = (length: number, gap = 0): DataLocation => {
    const offset = size;
    size += Math.ceil((length + gap) / alignment) * alignment;
    return { poolIndex, offset, length };
  };
  return {
    reserve,
    add(value) {
      const location = reserve(value.length);
      values.push({ offset: location.offset, value });
      return location;
    },
    get size() {
      return size;
    },
    copyTo(bytes) {
      for (const { offset, value } of values) bytes.set(value, offset);
    },
  };
}

/** Memory that a device can share, and the bytes in it. */
export interface SharedMemory {
  readonly memory: Memory;
  readonly bytes: Uint8Array;
}

/** Allocates zeroed memory of at least one byte. */
export function allocateShared(size: number): SharedMemory {
  const buffer = new SharedArrayBuffer(Math.max(1, size));
  const handle = { kind: "buffer", buffer, byteOffset: 0 } as const;
  return { memory: { name: "ashmem", size: buffer.byteLength, handle }, bytes: new Uint8Array(buffer) };
}
