/** The protection of a mapped file, and the HAL's encoding of an mmap_fd memory: one descriptor and three integers. */
import type { FileDescriptorHandle, Memory } from "@nnhal/types";

/** Bits of `FileDescriptorHandle.protection`. */
export const Protection = { READ: 1, WRITE: 2 } as const;

/** The integers of an mmap_fd memory's handle: protection, then the low and the high 32 bits of the offset. */
export type MmapFdIntegers = readonly [protection: number, offsetLow: number, offsetHigh: number];

const twoTo32 = 2 ** 32;

/**
 * Describes a memory in a file. The caller keeps the descriptor, which must stay open while the memory is used. Throws
 * RangeError for an offset that a number cannot hold exactly.
 */
export function mmapFdMemory(size: number, fd: number, [protection, low, high]: MmapFdIntegers): Memory {
  const offset = (high >>> 0) * twoTo32 + (low >>> 0);
  if (!Number.isSafeInteger(offset)) {
    throw new RangeError(`mmap_fd memory: the offset ${high >>> 0} * 2^32 + ${low >>> 0} is beyond 2^53`);
  }
  return { name: "mmap_fd", size, handle: { kind: "fileDescriptor", fd, protection, offset } };
}

/** The HAL's integers of a handle. */
export function mmapFdIntegers({ protection, offset }: FileDescriptorHandle): MmapFdIntegers {
  return [protection, offset % twoTo32, Math.floor(offset / twoTo32)];
}
