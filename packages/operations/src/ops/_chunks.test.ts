import { describe, expect, it } from "vitest";
import { inChunks, pacer } from "./_chunks.ts";

describe("inChunks", () => {
  it.each([
    [0, 1, 0],
    [1 << 20, 1, 0],
    [(1 << 20) + 1, 2, 2],
    [3 << 20, 3, 3],
  ])("covers %i elements in %i parts with %i pauses", (length, parts, pauses) => {
    const data = new Uint8Array(length);
    let count = 0;
    const steps = inChunks(length, (part) => {
      count++;
      part(data).forEach((_, index, all) => {
        all[index]++;
      });
    });
    let yields = 0;
    while (!steps.next().done) yields++;
    expect([count, yields]).toEqual([parts, pauses]);
    expect(data.every((times) => times === 1)).toBe(true);
  });
});

describe("pacer", () => {
  it("says when the work adds up", () => {
    const isTime = pacer();
    expect([isTime(1 << 19), isTime((1 << 19) - 1), isTime(1), isTime(1)]).toEqual([false, false, true, false]);
  });
});
