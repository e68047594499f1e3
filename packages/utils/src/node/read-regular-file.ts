/** Bounded reading of files whose path comes from the environment or lies beside a program: no pipes or devices, and a size limit. */
import { descriptorStats } from "./descriptor-stats.ts";
import { nodeModule } from "./node-module.ts";

/**
 * Returns the bytes of a file. `most`: the size limit. `purpose`: the feature that needs them, as for `nodeModule`.
 * Throws the system's error, or an Error if the file is too large or not regular: a device or a pipe may never end.
 */
export function readRegularFile(path: string, most: number, purpose: string): Uint8Array {
  const files = nodeModule("node:fs", purpose);
  const { O_RDONLY, O_NONBLOCK } = files.constants;
  // The opening of a pipe waits for its other end unless it is told not to. Windows has no such flag, and no such pipes.
  const fd = files.openSync(path, O_RDONLY | (O_NONBLOCK ?? 0));
  try {
    const stats = descriptorStats(fd, purpose);
    if (stats.isDirectory()) throw new Error("it is a folder");
    if (!stats.isFile()) throw new Error("it is not a regular file, but a device, pipe or socket");
    const tooLarge = (size: bigint | string) => new Error(`it has ${size} bytes; ${most} are the most`);
    if (stats.size > BigInt(most)) throw tooLarge(stats.size);
    // Files that the system makes up say that they have no bytes, and a file may grow.
    let bytes = new Uint8Array(Math.max(Number(stats.size), Math.min(most, FIRST_BYTES)) + 1);
    let length = 0;
    for (;;) {
      const count = files.readSync(fd, bytes, length, bytes.length - length, null);
      length += count;
      if (length > most) throw tooLarge(`more than ${most}`);
      if (count === 0) return bytes.subarray(0, length);
      if (length === bytes.length) {
        const larger = new Uint8Array(Math.min(2 * length, most + 1));
        larger.set(bytes);
        bytes = larger;
      }
    }
  } finally {
    files.closeSync(fd);
  }
}

/** Bytes for which there is room at first. */
const FIRST_BYTES = 4096;
