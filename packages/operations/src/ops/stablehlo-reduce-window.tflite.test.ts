import { describe, expect, it } from "vitest";
import { type GivenInput, int32 } from "./_run.tflite.test-helper.ts";
import { bools, floats, ints, list, longs, resultOf } from "./_values.tflite.test-helper.ts";

const [ADD, MUL, MINIMUM, MAXIMUM, ALL, ANY] = [1, 2, 3, 4, 5, 6];

interface Options {
  readonly operand?: GivenInput;
  readonly init?: GivenInput;
  readonly windowDimensions?: readonly number[];
  readonly windowStrides?: readonly number[];
  readonly baseDilations?: readonly number[];
  readonly windowDilations?: readonly number[];
  readonly padding?: readonly number[];
}

async function reduce(code: number | undefined, given: Options) {
  const { operand = ints([3, 2], [1, 2, 3, 4, 5, 6]), init = ints([1], [0]), windowDimensions = [2, 1] } = given;
  const ones = windowDimensions.map(() => 1);
  const { windowStrides = ones, baseDilations = ones, windowDilations = ones } = given;
  const { padding = [...ones, ...ones].map(() => 0) } = given;
  const lists = [windowDimensions, windowStrides, baseDilations, windowDilations, padding];
  const inputs = [operand, init, ...lists.map((values) => list(...values)), int32(code ?? 0)];
  const [shape, values] = await resultOf("STABLEHLO_REDUCE_WINDOW", inputs);
  return { shape, values };
}

describe("STABLEHLO_REDUCE_WINDOW", () => {
  it("has the example of StableHLO's specification", async () => {
    const operand = longs([3, 2], [1, 2, 3, 4, 5, 6]);
    const example = {
      ...{ operand, init: longs([1], [0]), windowDimensions: [2, 1], windowStrides: [4, 1] },
      ...{ baseDilations: [2, 1], windowDilations: [3, 1], padding: [2, 1, 0, 0] },
    };
    expect(await reduce(ADD, example)).toEqual({ shape: [2, 2], values: [0, 0, 3, 4] });
  });

  const line = (values: readonly number[], init: number, more: Options = {}) => ({
    ...{ operand: floats([values.length], values), init: floats([1], [init]), windowDimensions: [2] },
    ...more,
  });

  it.each([
    ["ADD", ADD, 0, [3, 5, 7]],
    ["MUL", MUL, 1, [2, 6, 12]],
    ["MINIMUM", MINIMUM, 9, [1, 2, 3]],
    ["MAXIMUM", MAXIMUM, 0, [2, 3, 4]],
  ])("%s", async (_, code, init, values) => {
    expect((await reduce(code, line([1, 2, 3, 4], init))).values).toEqual(values);
  });

  it("the initial value is in the padding too", async () => {
    expect((await reduce(ADD, line([1, 2], 10, { padding: [1, 1] }))).values).toEqual([21, 13, 22]);
    expect((await reduce(ADD, line([1, 2], 10, { baseDilations: [2] }))).values).toEqual([21, 22]);
  });

  it("less than 0 in the padding cuts elements off", async () => {
    expect((await reduce(ADD, line([1, 2, 3, 4], 0, { padding: [-1, 0] }))).values).toEqual([5, 7]);
  });

  it("of booleans", async () => {
    const given = { operand: bools([4], [1, 1, 0, 0]), init: bools([1], [0]), windowDimensions: [2] };
    expect((await reduce(ANY, given)).values).toEqual([1, 1, 0]);
    expect((await reduce(ADD, given)).values).toEqual([1, 1, 0]);
    expect((await reduce(ALL, { ...given, init: bools([1], [1]) })).values).toEqual([1, 0, 0]);
    expect((await reduce(MUL, { ...given, init: bools([1], [1]) })).values).toEqual([1, 0, 0]);
  });

  it.each<[Options, number, string]>([
    [
      { windowDimensions: [2], padding: [0, 0, 0, 0] },
      1,
      "windowDimensions: expected 2 integers of at least 1, got [2]",
    ],
    [{ windowStrides: [0, 1] }, 1, "windowStrides: expected 2 integers of at least 1, got [0, 1]"],
    [{ baseDilations: [0, 1] }, 1, "baseDilations: expected 2 integers of at least 1, got [0, 1]"],
    [{ windowDilations: [1, -1] }, 1, "windowDilations: expected 2 integers of at least 1, got [1, -1]"],
    [{ padding: [0, 0] }, 1, "padding: expected 4 numbers (two for each axis), got 2"],
    [{ windowDimensions: [4, 1] }, 1, "the window spans 4 of the 3 elements of axis 0"],
    [{ padding: [-2, -2, 0, 0] }, 1, "the paddings of axis 0 cut off more than its 3 elements"],
    [{}, 0, "the function: expected ADD 1 to ANY 6, got 0"],
    [{}, 7, "the function: expected ADD 1 to ANY 6, got 7"],
    [{ init: ints([2]) }, 1, "the initial value: expected 1 element, got 2"],
  ])("refuses %j with function %d", async (given, code, message) => {
    await expect(reduce(code, given)).rejects.toThrow(message);
  });
});
