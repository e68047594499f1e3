import { describe, expect, it } from "vitest";
import { CHUNK, copyInChunks, fillInChunks, inChunks, pacer } from "./chunks.ts";

describe("inChunks", () => {
  it.each([
    [0, 1, 0],
    [CHUNK, 1, 0],
    [CHUNK + 1, 2, 2],
    [3 * CHUNK, 3, 3],
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
    expect([isTime(CHUNK / 2), isTime(CHUNK / 2 - 1), isTime(1), isTime(1)]).toEqual([false, false, true, false]);
  });
});

describe("filling and copying", () => {
  const pausesOf = (steps: Generator<void, void>) => {
    let pauses = 0;
    while (!steps.next().done) pauses++;
    return pauses;
  };
  const length = 16 * CHUNK;

  it.each([
    [0, 0],
    [length, 0],
    [length + 1, 1],
    [3 * length, 2],
  ])("fills %i elements with %i pauses", (count, pauses) => {
    const target = new Uint8Array(count);
    expect(pausesOf(fillInChunks(target, 7))).toBe(pauses);
    expect(target.every((element) => element === 7)).toBe(true);
  });

  it.each([
    [0, 0],
    [length, 0],
    [length + 1, 2],
  ])("copies %i elements to their places with %i pauses", (count, pauses) => {
    const source = Uint8Array.from({ length: count }, (_, index) => index);
    const target = new Uint8Array(count + 2).fill(9);
    expect(pausesOf(copyInChunks(source, target, 1))).toBe(pauses);
    expect(target.subarray(1, -1).every((element, index) => element === source[index])).toBe(true);
    expect([target[0], target[count + 1]]).toEqual([9, 9]);
  });
});
