import { describe, expect, it } from "vitest";
import { type GivenInput, int32, omit } from "./_run.tflite.test-helper.ts";
import { bools, floats, ints, list, longs, resultOf } from "./_values.tflite.test-helper.ts";

const [UPDATE, ADD, MUL, MINIMUM, MAXIMUM, ALL, ANY] = [0, 1, 2, 3, 4, 5, 6];

interface Options {
  readonly updateWindowDims?: readonly number[];
  readonly insertedWindowDims?: readonly number[];
  readonly scatterDimsToOperandDims?: readonly number[];
  readonly indexVectorDim?: number;
}

const axes = (values: readonly number[]) => (values.length === 0 ? omit("TENSOR_INT32") : list(...values));

async function scatter(
  code: number | undefined,
  [operand, indices, updates]: readonly [GivenInput, GivenInput, GivenInput],
  given: Options,
) {
  const { updateWindowDims = [], insertedWindowDims = [], scatterDimsToOperandDims = [], indexVectorDim = 0 } = given;
  const [, values] = await resultOf("STABLEHLO_SCATTER", [
    operand,
    indices,
    updates,
    axes(updateWindowDims),
    axes(insertedWindowDims),
    axes(scatterDimsToOperandDims),
    int32(indexVectorDim),
    int32(code ?? 0),
  ]);
  return values;
}

const operand = longs(
  [3, 4, 2],
  Array.from({ length: 24 }, (_, place) => place + 1),
);
const indices = longs([2, 3, 2], [0, 2, 1, 0, 2, 1, 0, 1, 1, 0, 0, 9]);
const updates = longs([2, 3, 2, 2], new Array<number>(24).fill(1));
/** The example of StableHLO's specification; the last window is outside. */
const example: Options = {
  updateWindowDims: [2, 3],
  insertedWindowDims: [0],
  scatterDimsToOperandDims: [1, 0],
  indexVectorDim: 2,
};

/** Elements of a vector, by their indexes. */
const single: Options = { insertedWindowDims: [0], scatterDimsToOperandDims: [0], indexVectorDim: 1 };

describe("STABLEHLO_SCATTER", () => {
  it("adds windows, and ignores what is outside", async () => {
    expect(await scatter(ADD, [operand, indices, updates], example)).toEqual([
      ...[1, 2, 5, 6, 7, 8, 7, 8],
      ...[10, 11, 12, 13, 14, 15, 16, 17],
      ...[18, 19, 20, 21, 21, 22, 23, 24],
    ]);
  });

  it.each([
    ["UPDATE", UPDATE, [9, 5, 2]],
    ["ADD", ADD, [1 + 7 + 9, 2 + 5, 2]],
    ["MUL", MUL, [1 * 7 * 9, 2 * 5, 2]],
    ["MINIMUM", MINIMUM, [1, 2, 2]],
    ["MAXIMUM", MAXIMUM, [9, 5, 2]],
  ])("%s, in the order of the updates", async (_, code, values) => {
    const given = [floats([3], [1, 2, 2]), ints([3], [0, 1, 0]), floats([3], [7, 5, 9])] as const;
    expect(await scatter(code, given, single)).toEqual(values);
  });

  it("ALL and ANY of booleans, and sums of them", async () => {
    const given = [bools([2], [1, 0]), ints([2], [0, 1]), bools([2], [0, 1])] as const;
    expect(await scatter(ALL, given, single)).toEqual([0, 0]);
    expect(await scatter(ANY, given, single)).toEqual([1, 1]);
    expect(await scatter(ADD, given, single)).toEqual([1, 1]);
  });

  it("indexes below 0 and behind the end are ignored, each element by itself", async () => {
    const given = [ints([3], [0, 0, 0]), ints([4], [-1, 2, 3, -(2 ** 31)]), ints([4], [1, 2, 3, 4])] as const;
    expect(await scatter(UPDATE, given, single)).toEqual([0, 0, 2]);
    const windows: Options = { updateWindowDims: [1], scatterDimsToOperandDims: [0], indexVectorDim: 1 };
    const pairs = [ints([3], [0, 0, 0]), ints([2], [-1, 2]), ints([2, 2], [1, 2, 3, 4])] as const;
    expect(await scatter(UPDATE, pairs, windows)).toEqual([2, 0, 3]);
  });

  it("updates follow each other in their own order, where windows come first", async () => {
    // Two windows of two elements that overlap at element 1; the axis of the windows is the first one of the updates.
    const windows: Options = { updateWindowDims: [0], scatterDimsToOperandDims: [0], indexVectorDim: 1 };
    const given = [ints([3], [0, 0, 0]), ints([2], [0, 1]), ints([2, 2], [1, 2, 3, 4])] as const;
    expect(await scatter(UPDATE, given, windows)).toEqual([1, 3, 4]);
  });

  it("of a scalar index and one update", async () => {
    const one: Options = { insertedWindowDims: [0], scatterDimsToOperandDims: [0], indexVectorDim: 0 };
    expect(await scatter(UPDATE, [ints([3]), ints([1], [1]), ints([1], [7])], one)).toEqual([0, 7, 2]);
  });

  it.each<[Options, string]>([
    [{ indexVectorDim: 4 }, "indexVectorDim: expected 0 to 3, got 4"],
    [{ scatterDimsToOperandDims: [1, 1] }, "scatterDimsToOperandDims: expected 2 different axes of 3, got [1, 1]"],
    [{ insertedWindowDims: [3] }, "insertedWindowDims: expected ascending axes of 3, got [3]"],
    [{ insertedWindowDims: [] }, "the updates: expected 5 axes, got 4"],
    [{ updateWindowDims: [3, 2] }, "updateWindowDims: expected ascending axes of 4, got [3, 2]"],
    [{ updateWindowDims: [2] }, "expected 2 updateWindowDims, got 1"],
  ])("refuses %j", async (change, message) => {
    const given = [operand, indices, updates] as const;
    await expect(scatter(ADD, given, { ...example, ...change })).rejects.toThrow(message);
  });

  it("refuses other numbers of windows than of indices", async () => {
    const fewer = [operand, indices, longs([2, 2, 2, 2])] as const;
    await expect(scatter(ADD, fewer, example)).rejects.toThrow("the updates: expected 2x3 windows, got 2x2");
  });

  it("refuses a window that is larger than the tensor, and an unknown function", async () => {
    const wide = [operand, indices, longs([2, 3, 5, 2])] as const;
    await expect(scatter(ADD, wide, example)).rejects.toThrow(
      "axis 2 of the updates has 5 elements where at most 4 fit",
    );
    await expect(scatter(7, [operand, indices, updates], example)).rejects.toThrow(
      "the function: expected ADD 1 to ANY 6, got 7",
    );
  });
});
