/** Deviations count what differs, and by how much, in the steps of their type. */
import { describe, expect, it } from "vitest";
import { addDeviations, deviationOf } from "./deviation.ts";

const of = (
  type: Parameters<typeof deviationOf>[0],
  expected: readonly number[],
  actual: readonly number[],
  bound: number | null = 2,
) => deviationOf(type, Float64Array.from(expected), Float64Array.from(actual), () => bound);

describe("deviationOf", () => {
  it("is 0 for equal elements", () => {
    expect(of("TENSOR_QUANT8_ASYMM", [0, 7, 255], [0, 7, 255])).toEqual({
      type: "TENSOR_QUANT8_ASYMM",
      elements: 3,
      differing: 0,
      largest: 0,
      sum: 0,
      error: 0,
    });
  });

  it("counts steps of integers, and keeps their signs in the sum", () => {
    expect(of("TENSOR_QUANT8_ASYMM", [5, 5, 5, 5], [4, 4, 7, 5])).toMatchObject({
      elements: 4,
      differing: 3,
      largest: 2,
      sum: 0,
      error: 1,
    });
    expect(of("TENSOR_INT32", [1000, 0], [999, -3])).toMatchObject({ differing: 2, largest: 3, sum: -4, error: 1.5 });
  });

  it("counts units in the last place of the greatest element of floats, or of 1", () => {
    const { fround } = Math;
    expect(of("TENSOR_FLOAT32", [8, 1], [8, fround(1 + 2 ** -23)])).toMatchObject({ largest: 1 / 8, sum: 1 / 8 });
    expect(of("TENSOR_FLOAT32", [8, 15.5], [8 - 2 ** -20, 15.5])).toMatchObject({ largest: 1, sum: -1 });
    expect(of("TENSOR_FLOAT32", [1e-20], [2 ** -24])).toMatchObject({ differing: 1, largest: expect.closeTo(0.5, 6) });
    expect(of("TENSOR_FLOAT16", [1.5], [1.5 + 2 ** -10])).toMatchObject({ largest: 1 });
  });

  it("leaves out what is not compared, and expected NaN and infinities", () => {
    expect(of("TENSOR_FLOAT32", [1, 2], [5, 6], null)).toMatchObject({ elements: 0, differing: 0 });
    expect(of("TENSOR_FLOAT32", [Number.NaN, Number.POSITIVE_INFINITY, 2], [1, 1, 2])).toMatchObject({
      elements: 1,
      differing: 0,
    });
  });

  it("has a greatest number for NaN, infinities and absent elements, which are not in the sum", () => {
    for (const actual of [[Number.NaN], [Number.POSITIVE_INFINITY], []]) {
      expect(of("TENSOR_FLOAT32", [1], actual)).toMatchObject({ differing: 1, largest: 1e9, error: 1e9, sum: 0 });
    }
    expect(of("TENSOR_INT32", [1], [2], 0)).toMatchObject({ largest: 1, error: 1e9, sum: 1 });
  });
});

describe("addDeviations", () => {
  it("adds counts and sums, and keeps the greatest", () => {
    const first = of("TENSOR_INT32", [1, 1], [3, 1], 4);
    const second = of("TENSOR_INT32", [1, 1, 1], [0, 0, 1], 4);
    expect(addDeviations(first, second)).toEqual({
      type: "TENSOR_INT32",
      elements: 5,
      differing: 3,
      largest: 2,
      sum: 0,
      error: 0.5,
    });
  });
});
