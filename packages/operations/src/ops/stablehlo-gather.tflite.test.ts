import { describe, expect, it } from "vitest";
import { elementAt } from "../element-at.ts";
import { typeText } from "../operand-type.ts";
import { type GivenInput, int32, omit } from "./_run.tflite.test-helper.ts";
import { realTypes } from "./_types.tflite.ts";
import { ints, list, longs, resultOf, tensorOf, upTo } from "./_values.tflite.test-helper.ts";

interface Options {
  readonly offsetDims?: readonly number[];
  readonly collapsedSliceDims?: readonly number[];
  readonly startIndexMap?: readonly number[];
  readonly indexVectorDim?: number;
  readonly sliceSizes?: readonly number[];
}

/** An option as the import writes it: a list without elements is omitted. */
const axes = (values: readonly number[]) => (values.length === 0 ? omit("TENSOR_INT32") : list(...values));

async function gather(operand: GivenInput, indices: GivenInput, given: Options) {
  const { offsetDims = [], collapsedSliceDims = [], startIndexMap = [], indexVectorDim = 0, sliceSizes = [] } = given;
  const [shape, values] = await resultOf("STABLEHLO_GATHER", [
    operand,
    indices,
    axes(offsetDims),
    axes(collapsedSliceDims),
    axes(startIndexMap),
    int32(indexVectorDim),
    list(...sliceSizes),
  ]);
  return { shape, values };
}

/** 1 to 24. */
const operand = ints(
  [3, 4, 2],
  Array.from({ length: 24 }, (_, place) => place + 1),
);
/** The example of StableHLO's specification. */
const example: Options = {
  offsetDims: [2, 3],
  collapsedSliceDims: [0],
  startIndexMap: [1, 0],
  indexVectorDim: 2,
  sliceSizes: [1, 2, 2],
};
const indices = [0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 0, 2];

describe("STABLEHLO_GATHER", () => {
  it.each([
    ["INT64", longs([2, 3, 2], indices)],
    ["INT32", ints([2, 3, 2], indices)],
  ])("takes windows by indices of %s", async (_, given) => {
    expect(await gather(operand, given, example)).toEqual({
      shape: [2, 3, 2, 2],
      values: [
        ...[1, 2, 3, 4],
        ...[3, 4, 5, 6],
        ...[13, 14, 15, 16],
        ...[9, 10, 11, 12],
        ...[11, 12, 13, 14],
        17,
        18,
        19,
        20,
      ],
    });
  });

  it("moves a window back into the tensor", async () => {
    const line = { offsetDims: [1], startIndexMap: [0], indexVectorDim: 1, sliceSizes: [2] };
    const given = ints([4], [-5, 1, 3, 2 ** 31 - 1]);
    expect((await gather(ints([4]), given, line)).values).toEqual([0, 1, 1, 2, 2, 3, 2, 3]);
    expect((await gather(ints([4]), longs([1], [2 ** 62]), line)).values).toEqual([2, 3]);
  });

  it("takes the vectors along any axis, and windows before others", async () => {
    // Two vectors [0, 2] and [1, 0], along axis 0.
    const first = { offsetDims: [0], collapsedSliceDims: [0, 1], startIndexMap: [0, 1], indexVectorDim: 0 };
    const given = ints([2, 2], [0, 1, 2, 0]);
    expect(await gather(operand, given, { ...first, sliceSizes: [1, 1, 2] })).toEqual({
      shape: [2, 2],
      values: [5, 9, 6, 10],
    });
  });

  it("one element, by a scalar", async () => {
    const scalar = { collapsedSliceDims: [0], startIndexMap: [0], indexVectorDim: 0, sliceSizes: [1] };
    expect(await gather(ints([3]), ints([1], [2]), scalar)).toEqual({ shape: [1], values: [2] });
  });

  it("windows without elements", async () => {
    const none = { offsetDims: [1], startIndexMap: [0], indexVectorDim: 1, sliceSizes: [0] };
    expect((await gather(ints([3]), ints([2], [0, 1]), none)).values).toEqual([]);
  });

  it.each(realTypes.map((type) => [typeText(type), type] as const))("of %s", async (_, type) => {
    const line = { collapsedSliceDims: [0], startIndexMap: [0], indexVectorDim: 1, sliceSizes: [1] };
    const values = upTo([3]).map((place) => (type === "TENSOR_BOOL8" ? place % 2 : place + 1));
    expect((await gather(tensorOf(type, [3], values), ints([2], [1, 0]), line)).values).toEqual([
      elementAt(values, 1),
      elementAt(values, 0),
    ]);
  });

  it.each<[Options, string]>([
    [{ indexVectorDim: -1 }, "indexVectorDim: expected 0 to 3, got -1"],
    [{ indexVectorDim: 4 }, "indexVectorDim: expected 0 to 3, got 4"],
    [{ startIndexMap: [1] }, "startIndexMap: expected 2 different axes of 3, got [1]"],
    [{ startIndexMap: [1, 1] }, "startIndexMap: expected 2 different axes of 3, got [1, 1]"],
    [{ startIndexMap: [1, 3] }, "startIndexMap: expected 2 different axes of 3, got [1, 3]"],
    [{ offsetDims: [3, 2] }, "offsetDims: expected ascending axes of 4, got [3, 2]"],
    [{ offsetDims: [2, 4] }, "offsetDims: expected ascending axes of 4, got [2, 4]"],
    [{ offsetDims: [2] }, "expected 2 offsetDims, got 1"],
    [{ collapsedSliceDims: [0, 0] }, "collapsedSliceDims: expected ascending axes of 3, got [0, 0]"],
    [{ collapsedSliceDims: [-1] }, "collapsedSliceDims: expected ascending axes of 3, got [-1]"],
    [{ collapsedSliceDims: [1] }, "the size of collapsed axis 1: expected at most 1, got 2"],
    [{ sliceSizes: [1, 2] }, "sliceSizes: expected sizes within 3x4x2, got [1, 2]"],
    [{ sliceSizes: [1, 5, 2] }, "sliceSizes: expected sizes within 3x4x2, got [1, 5, 2]"],
    [{ sliceSizes: [1, -1, 2] }, "sliceSizes: expected sizes within 3x4x2, got [1, -1, 2]"],
  ])("refuses %j", async (change, message) => {
    await expect(gather(operand, ints([2, 3, 2], indices), { ...example, ...change })).rejects.toThrow(message);
  });
});
