import { elementAt } from "@nnhal/operations";
import { collectAll } from "@nnhal/test-kit/garbage";
import { describe, expect, it } from "vitest";
import { createBufferTracker } from "./tracker.ts";

describe("createBufferTracker", () => {
  it("never assigns 0, and assigns the token freed last next", () => {
    const tracker = createBufferTracker<object>();
    const buffers = [{}, {}, {}];
    const tokens = buffers.map((buffer) => tracker.add(buffer));
    expect(tokens).toEqual([1, 2, 3]);
    expect(tokens.map(tracker.get)).toEqual(buffers);
    tracker.remove(elementAt(buffers, 0));
    tracker.remove(elementAt(buffers, 2));
    expect(tokens.map(tracker.get)).toEqual([undefined, buffers[1], undefined]);
    expect([tracker.add({}), tracker.add({}), tracker.add({})]).toEqual([3, 1, 4]);
  });

  it("knows which buffers live", () => {
    const tracker = createBufferTracker<object>();
    expect(tracker.listLiving()).toEqual([]);
    const buffers = [{ name: "first" }, { name: "second" }, { name: "third" }];
    for (const buffer of buffers) tracker.add(buffer);
    tracker.remove(elementAt(buffers, 1));
    expect(tracker.listLiving()).toEqual([buffers[0], buffers[2]]);
  });

  it("frees a token once", () => {
    const tracker = createBufferTracker<object>();
    const buffer = {};
    tracker.add(buffer);
    tracker.remove(buffer);
    tracker.remove(buffer);
    expect([tracker.add({}), tracker.add({})]).toEqual([1, 2]);
  });

  it.each([0, -1, 1.5, 7, 2 ** 32])("knows no buffer with token %s", (token) => {
    const tracker = createBufferTracker<object>();
    tracker.add({});
    expect(tracker.get(token)).toBeUndefined();
  });

  it("does not keep buffers alive, and reuses the tokens of collected ones", async () => {
    const tracker = createBufferTracker<object>();
    const kept = {};
    let collected = 0;
    (() => {
      for (let index = 0; index < 100; index++) tracker.add({}, () => collected++);
      tracker.add(kept, () => collected++);
    })();
    await collectAll();
    expect(collected).toBe(100);
    expect(tracker.get(101)).toBe(kept);
    expect(tracker.add({})).toBeLessThanOrEqual(100);
  });
});
