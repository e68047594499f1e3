/**
 * The client's table of memories: a memory is sent once and then identified by its slot. The slot that was freed last
 * is reused first.
 */
import { ErrorStatus, type IBurstCallback, type Memory } from "@nnhal/types";

/** The key that identifies a memory; the Memory object itself by default. */
export type MemoryKey = unknown;

/** Memories and their slots. */
export interface MemorySlots extends IBurstCallback {
  /** The slot of a memory. A new memory gets a free slot. */
  slotOf(memory: Memory, key: MemoryKey): number;
  /** The memory of a slot; undefined if the slot is free. */
  memoryAt(slot: number): Memory | undefined;
  /** Removes a memory. Returns its slot; undefined if it had none. */
  free(key: MemoryKey): number | undefined;
  /** Number of known memories. */
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
          return { status: ErrorStatus.INVALID_ARGUMENT, message: `slot ${slot} has no memory`, buffers: [] };
        }
        buffers.push(memory);
      }
      return { status: ErrorStatus.NONE, buffers };
    },
  };
}
