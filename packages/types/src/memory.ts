/**
 * Memory that crosses the HAL: named, sized, and shared rather than copied (HAL hidl_memory, 1.3 Request.MemoryPool).
 */

/**
 * The kinds of memory. `ashmem`: anonymous shared memory. `mmap_fd`: a mapped file. `hardware_buffer_blob`: a
 * one-dimensional hardware buffer. `hardware_buffer`: one of any other format, whose layout is private to the driver.
 */
export type MemoryName = "ashmem" | "mmap_fd" | "hardware_buffer_blob" | "hardware_buffer";

/** What a memory's bytes lie in. */
export type MemoryHandle =
  /** A buffer of this process, shared between its threads where it is a SharedArrayBuffer. */
  | { readonly kind: "buffer"; readonly buffer: ArrayBufferLike; readonly byteOffset: number }
  /** A file descriptor of this process. `protection`: PROT_READ 1, PROT_WRITE 2. */
  | { readonly kind: "fileDescriptor"; readonly fd: number; readonly protection: number; readonly offset: number };

/** A region of memory. */
export interface Memory {
  /** One of `MemoryName`; any other name is refused by validation. */
  readonly name: string;
  /** Size in bytes. */
  readonly size: number;
  /** Null is refused by validation. */
  readonly handle: MemoryHandle | null;
}

/** A pool of a request: memory, or since 1.3 the token of a buffer that a device allocated. */
export type RequestMemoryPool =
  | { readonly kind: "memory"; readonly memory: Memory }
  /** `token` > 0. */
  | { readonly kind: "token"; readonly token: number };
