/** Mapping files by system calls, if the optional package koffi is installed. */
import type { FileDescriptorHandle } from "@nnhal/types";
import type { Mapping, Unmappable } from "./mapping.ts";
import { Protection } from "./protection.ts";
import { type SystemLibrary, systemLibrary } from "./system-library.ts";

/** Maps a part of a file. The file is long enough. */
export type FileMapper = (handle: FileDescriptorHandle, size: number) => Mapping | Unmappable;

const MAP_SHARED = 1;
const MAP_PRIVATE = 2;
const MAP_FAILED = 0xffff_ffff_ffff_ffffn;
/** MS_SYNC of the systems whose other constants and types are those below. On another system it may mean to discard the bytes. */
const syncFlags: Readonly<Record<string, number>> = { linux: 4, android: 4, darwin: 16 };
/** Processors whose `off_t` has 64 bits. */
const wideProcessors: readonly string[] = ["arm64", "loong64", "ppc64", "riscv64", "s390x", "x64"];
/** Offsets of mappings are multiples of this; no machine has larger pages. */
const largestPage = 65_536;
/** Most bytes of one mapping. A longer view ends the process. */
export const greatestView = 2 ** 32 - 1;

let found: FileMapper | null | undefined;
let problem: string | undefined;

/** The flag with which msync waits until the bytes are stored; undefined if files are not mapped by system calls on such a machine. */
export function syncFlagOf({ platform, arch }: Pick<NodeJS.Process, "platform" | "arch">): number | undefined {
  return wideProcessors.includes(arch) ? syncFlags[platform] : undefined;
}

/** The mapper of this machine; undefined if koffi is not installed or the system's mmap is not known. */
export function nativeMapper(): FileMapper | undefined {
  if (found === undefined) found = loadMapper() ?? null;
  return found ?? undefined;
}

/** Why `nativeMapper` has found no mapper; undefined if it has found one, or has not been called. */
export function whyNoNativeMapper(): string | undefined {
  return problem;
}

function loadMapper(): FileMapper | undefined {
  const syncFlag = syncFlagOf(process);
  if (syncFlag === undefined) {
    problem = `files are not mapped by system calls on ${process.platform} ${process.arch}`;
    return undefined;
  }
  const library = systemLibrary();
  if (!("missing" in library)) return mapperOf(library, syncFlag);
  problem = library.missing;
  return undefined;
}

function mapperOf(libc: SystemLibrary, syncFlag: number): FileMapper {
  const mmap = libc.func("void *mmap(void *address, size_t length, int protection, int flags, int fd, int64_t offset)");
  const munmap = libc.func("int munmap(void *address, size_t length)");
  const msync = libc.func("int msync(void *address, size_t length, int flags)");
  // A view must not outlive its mapping, and a mapping should end soon after its last view.
  const unused = new FinalizationRegistry<{ address: unknown; length: number }>(({ address, length }) => {
    munmap(address, length);
  });
  return ({ fd, protection, offset }, size) => {
    const before = offset % largestPage;
    const length = before + size;
    if (length > greatestView) return { unmappable: `${size} bytes are more than can be mapped at once` };
    const writable = (protection & Protection.WRITE) !== 0;
    // JavaScript has no read-only bytes: a private mapping keeps a write from ending the process.
    const flags = writable ? MAP_SHARED : MAP_PRIVATE;
    const address = mmap(null, length, Protection.READ | Protection.WRITE, flags, fd, offset - before);
    if (address === MAP_FAILED || address === null) {
      return { unmappable: `mmap of file descriptor ${fd} failed with error ${libc.errno()}` };
    }
    const view = libc.view(address, length);
    unused.register(view, { address, length });
    const bytes = new Uint8Array(view, before, size);
    const store = () => {
      if (msync(address, length, syncFlag) !== 0) throw new Error(`msync failed with error ${libc.errno()}`);
    };
    return { bytes, writable, ...(writable && { store }) };
  };
}
