/**
 * Memory that crosses the HAL: named, sized, and shared rather than copied (HAL hidl_memory, 1.3 Request.MemoryPool).
 */

/**
 * The kinds of memory. `ashmem`: anonymous shared memory. `mmap_fd`: a mapped file. `hardware_buffer_blob`: a
 * one-dimensional hardware buffer. `hardware_buffer`: one of any other format, whose layout is private to the driver.
 */
export type MemoryName = "ashmem" | "mmap_fd" | "hardware_buffer_blob" | "hardware_buffer";

/** A part of a buffer of this process, shared between its threads where it is a SharedArrayBuffer. */
export interface BufferHandle {
  readonly kind: "buffer";
  readonly buffer: ArrayBufferLike;
  readonly byteOffset: number;
}

/** A part of a file that a descriptor of this process names. It must stay open while the memory is used. */
export interface FileDescriptorHandle {
  readonly kind: "fileDescriptor";
  readonly fd: number;
  /** PROT_READ 1, PROT_WRITE 2. */
  readonly protection: number;
  readonly offset: number;
}

/** A hardware buffer: its description, and the location of its bytes (Android's AHardwareBuffer). */
export interface HardwareBufferHandle {
  readonly kind: "hardwareBuffer";
  readonly description: HardwareBufferDescription;
  readonly content: BufferHandle | FileDescriptorHandle;
}

/** Description of a hardware buffer (Android's AHardwareBuffer_Desc). */
export interface HardwareBufferDescription {
  /** In pixels; the size in bytes for a BLOB. */
  readonly width: number;
  /** In pixels; 1 for a BLOB. */
  readonly height: number;
  /** Images in the buffer; 1 for a BLOB. */
  readonly layers: number;
  /** A code of AHardwareBuffer_Format, such as 1 (R8G8B8A8_UNORM) and 0x21 (BLOB). */
  readonly format: number;
  /** Bits of AHardwareBuffer_UsageFlags: which units read and write it, and how often. */
  readonly usage: bigint;
  /** Pixels from the start of one row to the start of the next; at least `width`. */
  readonly stride: number;
}

/** Where the bytes of a memory lie. */
export type MemoryHandle = BufferHandle | FileDescriptorHandle | HardwareBufferHandle;

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
