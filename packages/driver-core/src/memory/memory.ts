/**
 * Memory in this process. It is shared, never copied: a pool is mapped to the bytes that its creator sees.
 */
import type { Memory } from "@nnhal/types";

/** Why a memory cannot be mapped. */
export interface Unmappable {
  readonly unmappable: string;
}

/** Allocates zeroed memory of a size in bytes that all threads of this process can share. */
export function allocateMemory(size: number): Memory {
  return { name: "ashmem", size, handle: { kind: "buffer", buffer: new SharedArrayBuffer(size), byteOffset: 0 } };
}

/** The memory that some bytes lie in: a view, not a copy. */
export function memoryOf(bytes: Uint8Array): Memory {
  const { buffer, byteOffset, byteLength } = bytes;
  return { name: "ashmem", size: byteLength, handle: { kind: "buffer", buffer, byteOffset } };
}

/** The bytes of a memory. */
export function mapMemory({ name, size, handle }: Memory): Uint8Array | Unmappable {
  if (handle === null) return { unmappable: `memory ${name} has no handle` };
  if (handle.kind !== "buffer")
    return { unmappable: `memory ${name} lies in a ${handle.kind}, which this driver cannot map` };
  if (name !== "ashmem") return { unmappable: `memory of kind ${name} is not supported by this driver` };
  const { buffer, byteOffset } = handle;
  if (byteOffset + size > buffer.byteLength) {
    return { unmappable: `memory ${name} claims ${size} bytes at ${byteOffset} of a buffer of ${buffer.byteLength}` };
  }
  return new Uint8Array(buffer, byteOffset, size);
}
