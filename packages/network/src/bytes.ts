/**
 * Memory of arrays: joined, and whether it is still there.
 */
import { check } from "./error.ts";

/** The bytes of some parts, one after another. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** The memory that values lie in, apart from what is shared. */
export function buffersOf(values: readonly { readonly bytes: Uint8Array }[]): readonly ArrayBuffer[] {
  return [...new Set(values.flatMap(({ bytes: { buffer } }) => (buffer instanceof ArrayBuffer ? buffer : [])))];
}

/** Throws WRONG_SIZE for an array whose memory has moved elsewhere: it has no elements any more. */
export function expectAttached(array: ArrayBufferView, what: string): void {
  check(!isDetached(array.buffer), "WRONG_SIZE", () => `${what} was given an array whose memory has been transferred`);
}

/** True if memory has moved elsewhere. */
export function isDetached(memory: ArrayBufferLike): boolean {
  if (memory.byteLength > 0) return false;
  try {
    new Uint8Array(memory);
    return false;
  } catch {
    return true;
  }
}
