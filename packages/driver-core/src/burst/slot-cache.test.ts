import { ErrorStatus, type Memory } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { createSlotCache } from "./slot-cache.ts";

/** A cache over a client that has a memory for every slot, named after it, and the list of requested slots. */
function cacheOf() {
  const asked: number[][] = [];
  const memory = (slot: number): Memory => ({ name: "ashmem", size: slot, handle: null });
  const getMemories = (slots: readonly number[]) => {
    asked.push([...slots]);
    return { status: ErrorStatus.NONE, buffers: slots.map(memory) };
  };
  return { cache: createSlotCache({ getMemories }, () => {}), asked };
}

describe("the service's table of memories", () => {
  it("answers memories in the order of the slots asked for", async () => {
    const { cache, asked } = cacheOf();
    expect((await cache.resolve([10, 9, 10, 100]))?.map(({ size }) => size)).toEqual([10, 9, 10, 100]);
    expect(await cache.resolve([])).toEqual([]);
    expect(asked).toEqual([[9, 10, 100]]);
  });

  it("does not grow without end: a client may number its slots as it likes", async () => {
    const { cache, asked } = cacheOf();
    const most = 4096;
    const slots = (first: number, count: number) => Array.from({ length: count }, (_, index) => first + index);
    await cache.resolve(slots(0, most));
    expect(cache.size).toBe(most);
    await cache.resolve(slots(0, most));
    expect(asked).toHaveLength(1);
    await cache.resolve(slots(most, 10));
    expect(cache.size).toBe(most);
    // The slots met first were let go, and can be had again.
    expect((await cache.resolve([9, 10]))?.map(({ size }) => size)).toEqual([9, 10]);
    expect(asked.slice(1)).toEqual([slots(most, 10), [9]]);
    expect(await cache.resolve(slots(0, most + 5))).toHaveLength(most + 5);
    expect(cache.size).toBe(most);
  });
});
