import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { typeText } from "../operand-type.ts";
import type { GivenInput } from "./_run.tflite.test-helper.ts";
import { realTypes } from "./_types.tflite.ts";
import { floats, ints, list, resultOf, tensorOf, upTo } from "./_values.tflite.test-helper.ts";

async function pad(
  operand: GivenInput,
  value: GivenInput,
  low: readonly number[],
  high: readonly number[],
  interior: readonly number[],
) {
  const lists = [low, high, interior].map((values) => list(...values));
  const [shape, values] = await resultOf("STABLEHLO_PAD", [operand, value, ...lists]);
  return { shape, values };
}

const zero = ints([1], [0]);

describe("STABLEHLO_PAD", () => {
  it("has the example of StableHLO's specification", async () => {
    expect(await pad(ints([2, 3], [1, 2, 3, 4, 5, 6]), zero, [0, 1], [2, 1], [1, 2])).toEqual({
      shape: [5, 9],
      values: [
        ...[0, 1, 0, 0, 2, 0, 0, 3, 0],
        ...[0, 0, 0, 0, 0, 0, 0, 0, 0],
        ...[0, 4, 0, 0, 5, 0, 0, 6, 0],
        ...[0, 0, 0, 0, 0, 0, 0, 0, 0],
        ...[0, 0, 0, 0, 0, 0, 0, 0, 0],
      ],
    });
  });

  it.each<[number, number, number, readonly number[]]>([
    [0, 0, 0, [1, 2, 3]],
    [-1, 0, 0, [2, 3]],
    [0, -1, 0, [1, 2]],
    [-1, -1, 0, [2]],
    [-3, 1, 0, [9]],
    [-1, 0, 2, [9, 9, 2, 9, 9, 3]],
    [-3, -2, 2, [2, 9]],
    [2, -4, 0, [9]],
    [-2, -1, 0, []],
    [1, 1, 1, [9, 1, 9, 2, 9, 3, 9]],
  ])("%d before, %d behind, %d between", async (low, high, interior, values) => {
    expect((await pad(ints([3], [1, 2, 3]), ints([1], [9]), [low], [high], [interior])).values).toEqual(values);
  });

  it("pads a tensor without elements", async () => {
    expect((await pad(floats([0]), floats([1], [9]), [1], [1], [3])).values).toEqual([9, 9]);
  });

  it("puts each element where the definition says", async () => {
    const padding = fc.record({
      low: fc.integer({ min: -3, max: 3 }),
      high: fc.integer({ min: -3, max: 3 }),
      interior: fc.nat(2),
    });
    const axis = fc.tuple(fc.integer({ min: 1, max: 4 }), padding);
    await fc.assert(
      fc.asyncProperty(fc.array(axis, { minLength: 1, maxLength: 3 }), async (given) => {
        const shape = given.map(([extent]) => extent);
        const paddings = given.map(([, each]) => each);
        const extents = given.map(([extent, { low, high, interior }]) => extent + (extent - 1) * interior + low + high);
        fc.pre(extents.every((extent) => extent > 0));
        const elements = upTo(shape).map((place) => place + 1);
        const place = (index: readonly number[], within: readonly number[]) =>
          index.reduce((sum, each, i) => sum * (within[i] ?? 1) + each, 0);
        const wanted = upTo(extents).map((position) => {
          const index = extents.map(
            (extent, i) => Math.floor(position / extents.slice(i + 1).reduce((a, b) => a * b, 1)) % extent,
          );
          const from = index.map((each, i) => (each - (paddings[i]?.low ?? 0)) / ((paddings[i]?.interior ?? 0) + 1));
          const isElement = from.every((each, i) => Number.isInteger(each) && each >= 0 && each < (shape[i] ?? 0));
          return isElement ? elements[place(from, shape)] : 0;
        });
        const result = await pad(
          ints(shape, elements),
          zero,
          paddings.map(({ low }) => low),
          paddings.map(({ high }) => high),
          paddings.map(({ interior }) => interior),
        );
        expect(result).toEqual({ shape: extents, values: wanted });
      }),
      { numRuns: 60 },
    );
  });

  it.each(realTypes.map((type) => [typeText(type), type] as const))("of %s", async (_, type) => {
    const [operand, value] = [tensorOf(type, [2], [1, 0]), tensorOf(type, [1], [1])];
    expect((await pad(operand, value, [0], [1], [1])).values).toEqual([1, 1, 0, 1]);
  });

  it.each<[string, readonly (readonly number[])[], string]>([
    [
      "a list that is too short",
      [[0], [0, 0], [0, 0]],
      "edgePaddingLow: expected 2 numbers (one for each axis), got 1",
    ],
    [
      "a list that is too long",
      [
        [0, 0],
        [0, 0, 0],
        [0, 0],
      ],
      "edgePaddingHigh: expected 2 numbers (one for each axis), got 3",
    ],
    [
      "less than 0 between",
      [
        [0, 0],
        [0, 0],
        [0, -1],
      ],
      "the padding between elements of axis 1: expected at least 0, got -1",
    ],
    [
      "too much cut off",
      [
        [-1, 0],
        [-2, 0],
        [0, 0],
      ],
      "the paddings of axis 0 cut off more than its 2 elements",
    ],
  ])("refuses %s", async (_, [low = [], high = [], interior = []], message) => {
    await expect(pad(ints([2, 3]), zero, low, high, interior)).rejects.toThrow(message);
  });

  it("refuses two values", async () => {
    await expect(pad(ints([2]), ints([2]), [0], [0], [0])).rejects.toThrow("the value: expected 1 element, got 2");
  });
});
