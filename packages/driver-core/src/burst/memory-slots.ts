/**
 * The client's table of memories: a memory is sent once and then named by its slot. A slot that was freed last is used
 * again first.
 */
import { ErrorStatus, type IBurstCallback, type Memory } from "@nnhal/types";

/** What stands for a memory: by default the Memory object itself. */
export type MemoryKey = unknown;

/** Memories and their slots. */
export interface MemorySlots extends IBurstCallback {
  /** The slot of a memory; one that is not known gets one. */
  slotOf(memory: Memory, key: MemoryKey): number;
  /** The memory that a slot stands for; undefined: the slot is free. */
  memoryAt(slot: number): Memory | undefined;
  /** Forgets a memory. Answers the slot that it had, if it had one. */
  free(key: MemoryKey): number | undefined;
  /** How many memories are known. */
  readonly size: number;
}

/** An empty table. */
export function createMemorySlots(): MemorySlots {
  const slots = new Map<MemoryKey, number>();
  const memories: (Memory | undefined)[] = [];
  const free: number[] = [];
  return {
    get size() {
      return slots.size;
    },
    slotOf(memory, key) {
      const known = slots.get(key);
      if (known !== undefined) return known;
      const slot = free.pop() ?? memories.length;
      slots.set(key, slot);
      memories[slot] = memory;
      return slot;
    },
    memoryAt: (slot) => memories[slot],
    free(key) {
      const slot = slots.get(key);
      if (slot === undefined) return undefined;
      slots.delete(key);
      memories[slot] = undefined;
      free.push(slot);
      return slot;
    },
    getMemories(wanted) {
      const buffers: Memory[] = [];
      for (const slot of wanted) {
        const memory = memories[slot];
        if (memory === undefined) {
          return { status: ErrorStatus.INVALID_ARGUMENT, message: `slot ${slot} stands for no memory`, buffers: [] };
        }
        buffers.push(memory);
      }
      return { status: ErrorStatus.NONE, buffers };
    },
  };
}
