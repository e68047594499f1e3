/**
 * Reading and writing the files of a client's descriptors. Each file is read once into private memory; the descriptor's
 * position does not matter.
 */
import { descriptorStats, nodeModule } from "@nnhal/utils/node";

/** The functions on files. Throws where there are no files. */
const files = () => nodeModule("node:fs", "a compilation cache");

/** A longer file is not read: lengths in a cache have 32 bits. */
const greatestLength = 2 ** 32 - 1;

/** Reads a whole file. Throws if the descriptor is not open for reading or is not one of a regular file. */
export function readFile(fd: number): Uint8Array {
  const { readSync } = files();
  const size = sizeOf(fd);
  if (size > greatestLength) throw new Error(`expected at most ${greatestLength} bytes, got ${size}`);
  const bytes = new Uint8Array(size);
  let at = 0;
  while (at < size) {
    const count = readSync(fd, bytes, at, size - at, at);
    if (count === 0) break;
    at += count;
  }
  return bytes.subarray(0, at);
}

/**
 * The size of a file in bytes. Throws if the descriptor is not one of a regular file: reading a pipe could last for
 * ever.
 */
export function sizeOf(fd: number): number {
  const stats = descriptorStats(fd, "a compilation cache");
  if (!stats.isFile()) throw new Error("it is not a regular file");
  return Number(stats.size);
}

/** Returns true if a descriptor is open for writing. Tested by a write of zero bytes, which changes nothing. */
export function isWritable(fd: number): boolean {
  try {
    files().writeSync(fd, new Uint8Array(0));
    return true;
  } catch {
    return false;
  }
}

/** Empties a file. Throws if the descriptor is not open for writing or is not one of a regular file. */
export function emptyFile(fd: number): void {
  sizeOf(fd);
  files().ftruncateSync(fd, 0);
}

/** Writes some bytes from the start of a file that is empty. */
export function fillFile(fd: number, bytes: Uint8Array): void {
  const { writeSync } = files();
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, at);
}
