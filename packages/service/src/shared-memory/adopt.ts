/**
 * Memory that another process offers. Its descriptor can name anything, and its owner can change it at any time, so a file
 * is mapped only if nothing can make it shorter. Any other file is used by copies.
 */
import { type BigIntStats, closeSync, fstatSync, readFileSync, statfsSync } from "node:fs";
import { copyFile, type Mapping, mapAnew, mappedMemory, Protection } from "@nnhal/driver-core/memory";
import type { FileDescriptorHandle, Memory } from "@nnhal/types";
import { mappedSignal } from "./futex-signal.ts";
import { type Linux, linux, Seal } from "./linux.ts";
import { greatestSize, type NoMemory } from "./shared-memory.ts";

/** The part of a file that is memory, and its protection. */
export interface AdoptOptions {
  /** PROT_READ 1, PROT_WRITE 2. Default: both. */
  readonly protection?: number | undefined;
  /** Where the memory begins in the file. Default 0. */
  readonly offset?: number | undefined;
}

/** Why the bytes of a file are used by copies, by its memory. */
const copied = new WeakMap<Memory, string>();
/** Descriptors of memories that are used by copies. */
const unreachable = new FinalizationRegistry<number>((fd) => closeSync(fd));

/** The file system of memory files. */
const TMPFS_MAGIC = 0x0102_1994;

/**
 * The memory of `size` bytes in a file that another process has sent. The descriptor belongs to it from then on, and is closed
 * if the memory is refused. The memory is ashmem: of a file that cannot get shorter, its shared bytes; else a copy that is read
 * before and written after each execution. Never throws.
 */
export function adoptMemory(fd: number, size: number, options: AdoptOptions = {}): Memory | NoMemory {
  const { protection = Protection.READ | Protection.WRITE, offset = 0 } = options;
  let isKept = false;
  try {
    const file: FileDescriptorHandle = { kind: "fileDescriptor", fd, protection, offset };
    checkClaim(file, size);
    const unsafe = whyItCanShrink(fd, linux());
    if (unsafe === undefined) return map(file, size);
    const memory = copy(file, size, unsafe);
    isKept = true;
    return memory;
  } catch (error) {
    return { refused: `a memory of ${size} bytes: ${error instanceof Error ? error.message : error}` };
  } finally {
    // A mapping needs no descriptor.
    if (!isKept) close(fd);
  }
}

/** Why a memory's bytes are copied; undefined if they are shared. */
export function whyCopied(memory: Memory): string | undefined {
  return copied.get(memory);
}

function close(fd: number): void {
  try {
    closeSync(fd);
  } catch {
    // The number is not that of an open file: there is nothing to close.
  }
}

function checkClaim({ fd, protection, offset }: FileDescriptorHandle, size: number): void {
  if (!Number.isInteger(fd) || fd < 0) throw new RangeError(`the file descriptor is ${fd}`);
  if (!Number.isInteger(size) || size < 1 || size > greatestSize) {
    throw new RangeError(`the size must be an integer from 1 to ${greatestSize}`);
  }
  if (!Number.isSafeInteger(offset) || offset < 0) throw new RangeError(`its offset in the file is ${offset}`);
  if ((protection & Protection.READ) === 0) throw new RangeError(`its protection is ${protection}: it is not readable`);
}

/** Why a file can get shorter while it is mapped; undefined if it cannot. Adds the seal that is needed. */
function whyItCanShrink(fd: number, system: Linux | { readonly missing: string }): string | undefined {
  if ("missing" in system) return system.missing;
  const seals = system.seals(fd);
  if (seals === undefined) return "it is not a memory file";
  if ((seals & Seal.SHRINK) === 0 && !system.addSeals(fd, Seal.SHRINK))
    return "it is not sealed against getting shorter";
  // A page of another system, such as that of large pages, can be missing when it is touched.
  return statfsSync(`/proc/self/fd/${fd}`).type === TMPFS_MAGIC ? undefined : "it has pages of a special kind";
}

function map(file: FileDescriptorHandle, size: number): Memory {
  // This checks the length, which cannot get less from now on.
  const mapping = mapAnew({ name: "ashmem", size, handle: file });
  if ("unmappable" in mapping) throw new Error(mapping.unmappable);
  const { buffer, byteOffset } = mapping.bytes;
  const memory: Memory = { name: "ashmem", size, handle: { kind: "buffer", buffer, byteOffset } };
  return mappedMemory(memory, { ...mapping, signal: mappedSignal });
}

function copy(file: FileDescriptorHandle, size: number, unsafe: string): Memory {
  const unreadable = whyUnreadable(file.fd);
  if (unreadable !== undefined) throw new Error(unreadable);
  const length = statsOf(file.fd).size;
  if (file.offset + size > length) throw new Error(`it reaches beyond the file's ${length} bytes`);
  const mapping = copyFile(file, size);
  if ("unmappable" in mapping) throw new Error(mapping.unmappable);
  const memory: Memory = { name: "ashmem", size, handle: file };
  copied.set(memory, unsafe);
  unreachable.register(file, file.fd);
  // The descriptor stays open as long as the mapping can be used.
  const keeping: Mapping & { readonly file: FileDescriptorHandle } = { ...mapping, file };
  return mappedMemory(memory, keeping);
}

/** The facts of an open file. With bigints: `descriptorStats` of @nnhal/utils says why. */
export function statsOf(fd: number): BigIntStats {
  return fstatSync(fd, { bigint: true });
}

/** Why a file is not one whose reads end: that of a disk, or a memory file. A process can answer reads when it likes. */
export function whyUnreadable(fd: number): string | undefined {
  const calls = linux();
  const isMemoryFile = !("missing" in calls) && calls.seals(fd) !== undefined;
  if (process.platform === "linux" && !isMemoryFile) {
    const system = fileSystemOf(fd);
    if (system === undefined || system.startsWith("fuse")) {
      return `its file lies in ${system ?? "an unknown file system"}, whose reads can be delayed for ever`;
    }
  }
  return statsOf(fd).isFile() ? undefined : "its descriptor is not that of a file";
}

/** Returns the kind of file system that a file is in; undefined if this process does not see it. Does not access that file system. */
function fileSystemOf(fd: number): string | undefined {
  const mount = /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1];
  const line = readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .find((one) => one.startsWith(`${mount} `));
  return line === undefined ? undefined : /\s-\s(\S+)/.exec(line)?.[1];
}
