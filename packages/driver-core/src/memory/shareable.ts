/** Where the bytes of memories come from. */

/**
 * Zeroed bytes that all threads of this process can share. A page that is not isolated from other origins has no SharedArrayBuffer:
 * there the bytes are the thread's own.
 */
export function shareable(size: number): ArrayBuffer | SharedArrayBuffer {
  return typeof SharedArrayBuffer === "undefined" ? new ArrayBuffer(size) : new SharedArrayBuffer(size);
}
