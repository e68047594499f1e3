/** The service's table of memories by slot. The client is asked when a slot is used first. */
import { ErrorStatus, type IBurstCallback, type Memory } from "@nnhal/types";

/** Maximum number of slots in the table. Beyond it, the oldest are dropped and asked for again. */
const mostSlots = 4096;

/** Memories by slot. */
export interface SlotCache {
  /**
   * The memories of some slots. The client is asked for unknown ones in one call, each once, in ascending order; unless
   * it returns all, none is kept. Undefined if a slot has no memory. Answers at once if all are known.
   */
  resolve(slots: readonly number[]): Memory[] | Promise<Memory[] | undefined>;
  forget(slot: number): void;
  clear(): void;
  readonly size: number;
}

/** An empty table. `log` receives why the client returned no memories. */
export function createSlotCache(callback: IBurstCallback, log: (message: string) => void): SlotCache {
  const cache = new Map<number, Memory>();
  const fetch = async (slots: readonly number[]) => {
    const { status, message, buffers } = await callback.getMemories(slots);
    if (status !== ErrorStatus.NONE || buffers.length !== slots.length) {
      log(`getMemories([${slots}]) answered status ${status} and ${buffers.length} memories: ${message ?? ""}`);
      return;
    }
    for (const [index, slot] of slots.entries()) {
      const memory = buffers[index];
      if (memory !== undefined) cache.set(slot, memory);
    }
  };
  return {
    get size() {
      return cache.size;
    },
    resolve: (slots) => findKnown(slots) ?? resolveUnknown(slots),
    forget: (slot) => void cache.delete(slot),
    clear: () => cache.clear(),
  };

  /** The memories of slots, if all are known. */
  function findKnown(slots: readonly number[]): Memory[] | undefined {
    const memories: Memory[] = [];
    for (const slot of slots) {
      const memory = cache.get(slot);
      if (memory === undefined) return undefined;
      memories.push(memory);
    }
    return memories;
  }

  async function resolveUnknown(slots: readonly number[]): Promise<Memory[] | undefined> {
    const unknown = [...new Set(slots)].filter((slot) => !cache.has(slot)).sort((a, b) => a - b);
    if (unknown.length > 0) {
      try {
        await fetch(unknown);
      } catch (error) {
        log(`getMemories([${unknown}]) failed: ${error}`);
      }
    }
    const memories = findKnown(slots);
    if (memories === undefined) return undefined;
    for (const oldest of cache.keys()) {
      if (cache.size <= mostSlots) break;
      cache.delete(oldest);
    }
    return memories;
  }
}
