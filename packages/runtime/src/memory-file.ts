/** Memories that are parts of files. */
import { mmapFdMemory, Protection } from "@nnhal/driver-core/memory";
import type { Memory as HalMemory } from "@nnhal/types";
import { whenCollected } from "@nnhal/utils";
import { descriptorStats, nodeModule } from "@nnhal/utils/node";
import { expectRight } from "./checks.ts";
import { expect, ResultCode } from "./result-code.ts";

/**
 * A part of a file, and what releases it. See `Memory.createFromFd`, of which the arguments are. Throws BAD_DATA for one that is not valid,
 * except the size.
 */
export function mapFile(
  size: number,
  protection: number,
  fd: number,
  offset: number,
  what: string,
): { readonly memory: HalMemory; readonly release?: () => void } {
  expectRight(Number.isInteger(fd) && fd >= 0, what, "a file descriptor", fd);
  const { READ, WRITE } = Protection;
  const isKnown = Number.isInteger(protection) && protection >= 0 && protection <= READ + WRITE;
  expectRight(isKnown, what, "a protection, READ (1), WRITE (2) or their sum", protection);
  expectRight(Number.isSafeInteger(offset) && offset >= 0, what, "an offset in a file", offset);
  const own = duplicate(fd, (protection & WRITE) !== 0, what);
  const memory = mmapFdMemory(size, own ?? fd, [protection, offset % 2 ** 32, Math.floor(offset / 2 ** 32)]);
  if (own === undefined) return { memory };
  // Models and requests have the HAL's memory, not the runtime's: the descriptor lives as long as any of them.
  const cancel = whenCollected(memory, own, files().closeSync);
  const release = () => {
    cancel();
    files().closeSync(own);
  };
  return { memory, release };
}

const files = () => nodeModule("node:fs", "a memory in a file");

/**
 * Another descriptor of the same file. Undefined if the system has none, or if it would allow more than the caller's: mapping the
 * caller's then reports what is not allowed.
 */
function duplicate(fd: number, isWritten: boolean, what: string): number | undefined {
  try {
    if (!descriptorStats(fd, "a memory in a file").isFile()) return undefined;
  } catch (error) {
    expect(false, ResultCode.BAD_DATA, () => `${what}: ${error instanceof Error ? error.message : error}`);
  }
  const { openSync, readSync, writeSync } = files();
  try {
    readSync(fd, new Uint8Array(1), 0, 1, 0);
    if (isWritten) writeSync(fd, new Uint8Array(0));
    const descriptors = process.platform === "linux" ? "/proc/self/fd" : "/dev/fd";
    return openSync(`${descriptors}/${fd}`, isWritten ? "r+" : "r");
  } catch {
    return undefined;
  }
}
