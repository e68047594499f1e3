import { describe, expect, it } from "vitest";
import { tfliteTypes } from "../tflite-types.ts";
import { bool } from "./_run.tflite.test-helper.ts";
import { floats, ints, list, longs, resultOf } from "./_values.tflite.test-helper.ts";

describe("CUMSUM", () => {
  const sums = (make: typeof ints, axis: number, exclusive: boolean, reverse: boolean) =>
    resultOf("CUMSUM", [make([2, 3], [1, 2, 3, 4, 5, 6]), list(axis), bool(exclusive), bool(reverse)]);
  it("adds up along an axis in every type, from either end, with the element or without", async () => {
    for (const make of [floats, ints, longs]) {
      expect(await sums(make, 1, false, false)).toEqual([
        [2, 3],
        [1, 3, 6, 4, 9, 15],
      ]);
      expect(await sums(make, -1, true, false)).toEqual([
        [2, 3],
        [0, 1, 3, 0, 4, 9],
      ]);
      expect(await sums(make, 0, false, true)).toEqual([
        [2, 3],
        [5, 7, 9, 4, 5, 6],
      ]);
      expect(await sums(make, 1, true, true)).toEqual([
        [2, 3],
        [5, 3, 0, 11, 6, 0],
      ]);
    }
  });

  it("wraps integers, and rounds each float32 sum", async () => {
    const add = (input: ReturnType<typeof ints>) => resultOf("CUMSUM", [input, list(0), bool(false), bool(false)]);
    expect(await add(ints([2], [2 ** 31 - 1, 1]))).toEqual([[2], [2 ** 31 - 1, -(2 ** 31)]]);
    expect(await add(floats([3], [2 ** 24, 1, 1]))).toEqual([[3], [2 ** 24, 2 ** 24, 2 ** 24]]);
    const long = { type: tfliteTypes.TENSOR_INT64, dimensions: [2], data: BigInt64Array.of(2n ** 63n - 1n, 1n) };
    expect((await add(long))[1][1]).toBe(-(2 ** 63));
    expect(await add(ints([0]))).toEqual([[0], []]);
  });

  it("refuses an axis that is not there", async () => {
    await expect(sums(ints, 2, false, false)).rejects.toThrow("axis 2 is outside [-2, 2)");
    const two = [ints([2]), list(0, 0), bool(false), bool(false)];
    await expect(resultOf("CUMSUM", two)).rejects.toThrow("axis: expected 1 element, got 2");
  });
});

describe("SEGMENT_SUM", () => {
  const sum = (make: typeof ints, ...ids: readonly number[]) => resultOf("SEGMENT_SUM", [make([3, 2]), list(...ids)]);
  it("adds slices that follow each other", async () => {
    for (const make of [floats, ints]) {
      expect(await sum(make, 0, 0, 1)).toEqual([
        [2, 2],
        [2, 4, 4, 5],
      ]);
      expect(await sum(make, 0, 1, 2)).toEqual([
        [3, 2],
        [0, 1, 2, 3, 4, 5],
      ]);
    }
    expect(await resultOf("SEGMENT_SUM", [ints([0, 2]), list()])).toEqual([[0, 2], []]);
  });

  it("refuses ids that leave one out, go back or do not begin with 0, and other numbers of them", async () => {
    await expect(sum(ints, 0, 2, 2)).rejects.toThrow("segment id 2 at 1 is neither 0 nor 1");
    await expect(sum(ints, 0, 1, 0)).rejects.toThrow("segment id 0 at 2 is neither 1 nor 2");
    await expect(sum(ints, 1, 1, 1)).rejects.toThrow("segment id 1 at 0 is not 0");
    await expect(sum(ints, -1, 0, 0)).rejects.toThrow("segment id -1 at 0 is not 0");
    await expect(sum(ints, 0, 0)).rejects.toThrow("the shape of the segment ids: expected 3, got 2");
  });
});

describe("UNSORTED_SEGMENT_SUM, PROD, MAX and MIN", () => {
  const greatest = (2 - 2 ** -23) * 2 ** 127;
  const segments = (name: string, make: typeof ints, ids: ReturnType<typeof ints>, count: number) =>
    resultOf(`UNSORTED_SEGMENT_${name}`, [make([2, 2], [3, -4, 5, -6]), ids, list(count)]);
  it("reduce the slices of each segment, and begin with the neutral number", async () => {
    const starts = { SUM: [0, 0], PROD: [1, 1], MAX: [-greatest, -(2 ** 31)], MIN: [greatest, 2 ** 31 - 1] };
    const results = { SUM: [8, -10], PROD: [15, 24], MAX: [5, -4], MIN: [3, -6] };
    for (const name of ["SUM", "PROD", "MAX", "MIN"] as const) {
      for (const [place, make] of [floats, ints].entries()) {
        const start = starts[name][place];
        expect(await segments(name, make, list(1, 1), 2)).toEqual([
          [2, 2],
          [start, start, ...results[name]],
        ]);
        expect(await segments(name, make, list(-1, 0), 1)).toEqual([
          [1, 2],
          [5, -6],
        ]);
      }
      expect(await segments(name, ints, ints([2, 2], [0, 1, 2, -9]), 3)).toEqual([[3], [3, -4, 5]]);
    }
  });

  it("wrap integers, and round each float32 number", async () => {
    const reduce = (name: string, input: ReturnType<typeof ints>) =>
      resultOf(`UNSORTED_SEGMENT_${name}`, [input, list(0, 0), list(1)]);
    expect(await reduce("SUM", ints([2], [2 ** 31 - 1, 2]))).toEqual([[1], [-(2 ** 31) + 1]]);
    expect(await reduce("PROD", ints([2], [2 ** 31 - 1, 2 ** 31 - 1]))).toEqual([[1], [1]]);
    expect(await reduce("PROD", floats([2], [1e10, 1e10]))).toEqual([[1], [Math.fround(Math.fround(1e10) ** 2)]]);
    expect(await reduce("MAX", floats([2], [Number.NaN, 1]))).toEqual([[1], [1]]);
    expect(await reduce("MIN", floats([2], [1, Number.NaN]))).toEqual([[1], [1]]);
  });

  it("refuse ids and numbers of segments that do not fit", async () => {
    await expect(segments("SUM", ints, list(0, 2), 2)).rejects.toThrow(
      "segment id 2 at 1 is not less than 2, the number of segments",
    );
    await expect(segments("MAX", ints, list(0, 0), -1)).rejects.toThrow("the number of segments is -1, less than 0");
    await expect(segments("MIN", ints, list(0), 1)).rejects.toThrow(
      "segment ids of shape 1 are not for the first axes of 2x2",
    );
  });
});
