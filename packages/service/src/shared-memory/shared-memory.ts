/**
 * Memory that processes share: memory files of Linux (memfd), mapped on both sides, so that bytes are never copied. The
 * maker seals its file against changes of length: a mapped file that gets shorter ends the process that touches the rest.
 */
import { closeSync } from "node:fs";
import { greatestView, mapAnew, mappedMemory, Protection } from "@nnhal/driver-core/memory";
import type { FileDescriptorHandle, Memory } from "@nnhal/types";
import { mappedSignal } from "./futex-signal.ts";
import { linux, Seal } from "./linux.ts";

/** A memory in a separate file. */
export interface SharedMemory extends Memory {
  readonly handle: FileDescriptorHandle;
  /**
   * Closes the descriptor: the memory cannot be passed to another process afterwards. Its bytes stay mapped as long as they
   * can be reached. Without this call, the descriptor is closed when the memory is garbage-collected.
   */
  close(): void;
}

/** Why there is no memory. */
export interface NoMemory {
  readonly refused: string;
}

/** Closes descriptors whose memories are gone. Watches the handle, because it can outlive its memory object. */
const unreachable = new FinalizationRegistry<number>((fd) => closeSync(fd));

/**
 * Makes zeroed memory that other processes can map: `passing` takes it there. It is an ashmem memory of the HAL. Returns why
 * if the system has no such memory or is out of it. Throws RangeError for a size that is not an integer from 1 to 2^32 - 65536.
 */
export function createSharedMemory(size: number): SharedMemory | NoMemory {
  if (!Number.isInteger(size) || size < 1 || size > greatestSize) {
    throw new RangeError(
      `shared memory of ${size} bytes cannot be made: expected an integer from 1 to ${greatestSize}`,
    );
  }
  const system = linux();
  if ("missing" in system) return { refused: `shared memory: ${system.missing}` };
  let fd: number | undefined;
  try {
    fd = system.createMemoryFile(size);
    // No length can change, and no seal against writing can be added while it is mapped elsewhere.
    const sealed = system.addSeals(fd, Seal.SHRINK | Seal.GROW | Seal.SEAL);
    if (!sealed) throw new Error("the file cannot be sealed");
    return own(fd, size);
  } catch (error) {
    if (fd !== undefined) closeSync(fd);
    return { refused: `shared memory of ${size} bytes: ${error instanceof Error ? error.message : error}` };
  }
}

/** Most bytes of a shared memory: the largest possible mapping. */
export const greatestSize = greatestView + 1 - 65_536;

function own(fd: number, size: number): SharedMemory {
  let isOpen = true;
  const handle: FileDescriptorHandle = {
    kind: "fileDescriptor",
    // The number of a closed descriptor soon means another file.
    get fd() {
      return isOpen ? fd : -1;
    },
    protection: Protection.READ | Protection.WRITE,
    offset: 0,
  };
  const memory: SharedMemory = {
    name: "ashmem",
    size,
    handle,
    close() {
      if (!isOpen) return;
      isOpen = false;
      unreachable.unregister(handle);
      closeSync(fd);
    },
  };
  const mapping = mapAnew(memory);
  if ("unmappable" in mapping) throw new Error(mapping.unmappable);
  mappedMemory(memory, { ...mapping, signal: mappedSignal });
  unreachable.register(handle, fd, handle);
  return memory;
}
