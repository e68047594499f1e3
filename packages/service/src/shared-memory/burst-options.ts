/** Bursts between processes: the queues of a burst in memory that both map. */
import type { BurstOptions } from "@nnhal/driver-core/burst";
import { createSharedMemory } from "./shared-memory.ts";

/**
 * Options of `createBurst` for a service in another process that memories are passed to by descriptors. Queues lie in shared
 * memory, and their ends sleep by `mappedSignal` unless `signal` says otherwise. Requests whose memory is of this process
 * alone fall back: an ordinary call copies it.
 */
export function burstAcrossProcesses(): Required<Pick<BurstOptions, "allocate" | "refuseMemory">> {
  return {
    allocate(size) {
      const memory = createSharedMemory(size);
      if ("refused" in memory) throw new Error(memory.refused);
      return memory;
    },
    refuseMemory({ handle }) {
      if (handle?.kind === "fileDescriptor") return undefined;
      return "its bytes are of this process alone; use createSharedMemory of @nnhal/service/shared-memory";
    },
  };
}
