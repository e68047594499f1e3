/**
 * Memory that a device allocates for itself (HAL 1.3 memory domains).
 */

import type { Memory } from "./memory.ts";
import type { Outcome } from "./outcome.ts";

/** Description of the value that a buffer will hold (HAL 1.3 BufferDesc). */
export interface BufferDesc {
  /** The extents as far as they are known: 0 is an unknown extent, [] an unknown rank. Empty for scalars. */
  readonly dimensions: readonly number[];
}

/** An input or output of a prepared model that a buffer will be used for (HAL 1.3 BufferRole). */
export interface BufferRole {
  /** Index into the list of prepared models. */
  readonly modelIndex: number;
  /** Index into that model's inputs or outputs. */
  readonly ioIndex: number;
  /** Fraction of the model's executions that use the buffer in this role, within (0, 1]. */
  readonly frequency: number;
}

/**
 * A buffer of a device (HAL 1.3 IBuffer). It has a value after an execution that wrote it, or copyFrom, succeeded.
 * It has no value before, and none after either failed. ashmem, mmap_fd and hardware_buffer_blob memory can be
 * copied from and to.
 */
export interface IBuffer {
  /**
   * Copies the buffer's value to a memory, whose size must be the value's. INVALID_ARGUMENT: a memory that is not valid,
   * or of another size. GENERAL_FAILURE: the buffer has no value.
   */
  copyTo(dst: Memory): Promise<Outcome>;
  /**
   * Sets the buffer's value from a memory of exactly its size. `dimensions`: the value's extents, all known and not
   * contradicting the buffer's; empty if the buffer's are all known. INVALID_ARGUMENT: a memory or dimensions that are
   * not valid. After any failure the buffer has no value.
   */
  copyFrom(src: Memory, dimensions: readonly number[]): Promise<Outcome>;
  /** Frees the buffer and its token. HIDL does this when the last reference to an IBuffer is released. */
  close?(): void;
}
