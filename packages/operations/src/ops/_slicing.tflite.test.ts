import { describe, expect, it } from "vitest";
import { tfliteTypes } from "../tflite-types.ts";
import { bool, int32 } from "./_run.tflite.test-helper.ts";
import { realTypes, splitTypes } from "./_types.tflite.ts";
import { floats, ints, list, longList, longs, resultOf, resultsOf, tensorOf } from "./_values.tflite.test-helper.ts";

const int64 = tfliteTypes.TENSOR_INT64;

/** Masks of STRIDED_SLICE. */
interface Masks {
  readonly begin?: number;
  readonly end?: number;
  readonly shrink?: number;
  readonly ellipsis?: number;
  readonly newAxis?: number;
  readonly offset?: boolean;
}

function sliceStrided(
  dimensions: readonly number[],
  [begin, end, strides]: readonly (readonly number[])[],
  { begin: b = 0, end: e = 0, shrink = 0, ellipsis = 0, newAxis = 0, offset = false }: Masks = {},
  type: Parameters<typeof tensorOf>[0] = "TENSOR_FLOAT32",
) {
  const input = tensorOf(type, dimensions, Array.from(floats(dimensions).data, Number));
  const lists = [list(...begin), list(...end), list(...strides)];
  const masks = [int32(b), int32(e), int32(shrink), int32(ellipsis), int32(newAxis), bool(offset)];
  return resultOf("STRIDED_SLICE", [input, ...lists, ...masks], type);
}

describe("STRIDED_SLICE", () => {
  it("takes elements of every type", async () => {
    for (const type of realTypes) {
      if (type === "TENSOR_BOOL8") continue;
      expect(
        await sliceStrided(
          [2, 3],
          [
            [0, 2],
            [2, -4],
            [1, -2],
          ],
          {},
          type,
        ),
      ).toEqual([
        [2, 2],
        [2, 0, 5, 3],
      ]);
    }
  });

  it("takes complex elements as pairs of numbers", async () => {
    const input = { type: tfliteTypes.TENSOR_COMPLEX64, dimensions: [3], data: Float32Array.of(1, 2, 3, 4, 5, 6) };
    const masks = [int32(0), int32(0), int32(0)];
    expect(await resultOf("STRIDED_SLICE", [input, list(2), list(0), list(-1), ...masks])).toEqual([[2], [5, 6, 3, 4]]);
  });

  it("takes slices of 5 axes, and whole axes behind the lists", async () => {
    const [dimensions, elements] = await sliceStrided(
      [2, 2, 2, 2, 2],
      [
        [1, 0],
        [2, 1],
        [1, 1],
      ],
    );
    expect(dimensions).toEqual([1, 1, 2, 2, 2]);
    expect(elements).toEqual([16, 17, 18, 19, 20, 21, 22, 23]);
  });

  it("opens corners, inserts and removes axes by masks", async () => {
    const whole = [
      [1, 1],
      [1, 1],
      [1, -1],
    ];
    expect(await sliceStrided([2, 2], whole, { begin: 3, end: 3 })).toEqual([
      [2, 2],
      [1, 0, 3, 2],
    ]);
    expect(
      await sliceStrided(
        [2, 2],
        [
          [1, -1],
          [0, 0],
          [1, 1],
        ],
        { shrink: 3 },
      ),
    ).toEqual([[1], [3]]);
    expect(
      await sliceStrided(
        [2, 3],
        [
          [0, 1],
          [0, 2],
          [1, 1],
        ],
        { ellipsis: 1 },
      ),
    ).toEqual([
      [2, 1],
      [1, 4],
    ]);
    expect(
      await sliceStrided(
        [2, 2],
        [
          [1, 0, 1],
          [2, 0, 2],
          [1, 1, 1],
        ],
        { newAxis: 2 },
      ),
    ).toEqual([[1, 1, 1], [3]]);
    // An ellipsis for no axes at all, and a new axis beside it.
    expect(
      await sliceStrided(
        [2],
        [
          [0, 0, 1],
          [0, 0, 2],
          [1, 1, 1],
        ],
        { ellipsis: 1, newAxis: 2 },
      ),
    ).toEqual([[1, 1], [1]]);
    expect(await sliceStrided([6], [[1], [4], [2]], { offset: true })).toEqual([[2], [1, 3]]);
  });

  it("is empty if the corners do not enclose anything, and takes no more than there is", async () => {
    expect(await sliceStrided([3], [[2], [1], [1]])).toEqual([[0], []]);
    expect(await sliceStrided([3], [[-9], [9], [1]])).toEqual([[3], [0, 1, 2]]);
    expect(await sliceStrided([3], [[9], [-9], [-1]])).toEqual([[3], [2, 1, 0]]);
  });

  it("refuses lists that do not fit", async () => {
    await expect(sliceStrided([3], [[0], [1], [0]])).rejects.toThrow("the stride of axis 0 is 0");
    await expect(sliceStrided([3], [[0], [1, 1], [1]])).rejects.toThrow(
      "begin, end and strides: expected as many elements each, got 1, 2 and 1",
    );
    await expect(
      sliceStrided(
        [3],
        [
          [0, 0],
          [1, 1],
          [1, 1],
        ],
      ),
    ).rejects.toThrow("begin has 2 elements for axes of 3, which has 1");
    await expect(
      sliceStrided(
        [3],
        [
          [0, 0],
          [1, 1],
          [1, 1],
        ],
        { ellipsis: 3 },
      ),
    ).rejects.toThrow("the ellipsis mask: expected at most one bit, got bits 0 and 1");
    const many = new Array(33).fill(0);
    await expect(sliceStrided([3], [many, many, many])).rejects.toThrow(
      "begin has 33 elements where at most 32 are possible",
    );
  });

  it("refuses to take an element that is not there", async () => {
    expect(await sliceStrided([3], [[2], [0], [1]], { shrink: 1 })).toEqual([[1], [2]]);
    await expect(sliceStrided([3], [[3], [0], [1]], { shrink: 1 })).rejects.toThrow(
      "axis 0 of extent 3, which is removed, has no element 3",
    );
  });
});

describe("SLICE", () => {
  it("takes elements of every type", async () => {
    for (const type of realTypes) {
      const input = tensorOf(type, [2, 3], [0, 1, 0, 1, 1, 0]);
      expect(await resultOf("SLICE", [input, list(0, 1), list(-1, 2)])).toEqual([
        [2, 2],
        [1, 0, 1, 0],
      ]);
    }
  });

  it("takes 64-bit lists, computed or constant", async () => {
    expect(await resultOf("SLICE", [floats([4]), longList(1), longList(2)])).toEqual([[2], [1, 2]]);
    const constant = { ...longList(3), isConstant: true };
    expect(await resultOf("SLICE", [longs([4]), constant, longList(-1)])).toEqual([[1], [3]]);
  });

  it("refuses a box that is not within the tensor, and lists of different types", async () => {
    expect(await resultOf("SLICE", [floats([4]), list(1), list(3)])).toEqual([[3], [1, 2, 3]]);
    await expect(resultOf("SLICE", [floats([4]), longList(1), longList(4)])).rejects.toThrow(
      "4 elements from 1 of axis 0 are not within its extent of 4",
    );
    await expect(resultOf("SLICE", [floats([4]), longList(-1), longList(1)])).rejects.toThrow("begin -1 of axis 0");
    await expect(resultOf("SLICE", [floats([4]), longList(1), list(1)])).rejects.toThrow(
      "input 1 (begin): expected TENSOR_INT32, got nnhal.tflite TENSOR_INT64",
    );
  });
});

describe("SPLIT and SPLIT_V", () => {
  it("cut tensors of every type", async () => {
    for (const type of splitTypes) {
      const input = tensorOf(type, [2, 3], [0, 1, 2, 3, 4, 5]);
      const output = { type, ...(typeof type === "string" && type.includes("QUANT") && { scale: 1 }) };
      const equal = await resultsOf("SPLIT", [input, int32(1), int32(3)], [output, output, output]);
      expect(equal).toEqual([
        [
          [2, 1],
          [0, 3],
        ],
        [
          [2, 1],
          [1, 4],
        ],
        [
          [2, 1],
          [2, 5],
        ],
      ]);
      const operands = [input, longList(1, -1), list(-1), int32(2)];
      const parts = await resultsOf("SPLIT_V", operands, [output, output]);
      expect(parts).toEqual([
        [
          [2, 1],
          [0, 3],
        ],
        [
          [2, 2],
          [1, 2, 4, 5],
        ],
      ]);
    }
  });

  const real = { type: "TENSOR_FLOAT32" } as const;
  it("take a computed axis", async () => {
    const parts = await resultsOf("SPLIT", [floats([2, 2]), list(-2), int32(2)], [real, real]);
    expect(parts).toEqual([
      [
        [1, 2],
        [0, 1],
      ],
      [
        [1, 2],
        [2, 3],
      ],
    ]);
    await expect(resultsOf("SPLIT", [floats([2, 2]), list(0, 1), int32(2)], [real, real])).rejects.toThrow(
      "axis: expected 1 element, got 2",
    );
  });

  const cut = (axis: number, count: number, ...sizes: readonly number[]) =>
    resultsOf("SPLIT_V", [floats([3, 2]), list(...sizes), list(axis), int32(count)], [real, real]);
  it("refuse extents that are not those of the axis", async () => {
    expect(await cut(0, 2, 3, 0)).toEqual([
      [
        [3, 2],
        [0, 1, 2, 3, 4, 5],
      ],
      [[0, 2], []],
    ]);
    expect(await cut(0, 2, -1, 3)).toEqual([
      [[0, 2], []],
      [
        [3, 2],
        [0, 1, 2, 3, 4, 5],
      ],
    ]);
    await expect(cut(0, 2, 1, 1)).rejects.toThrow("parts of extents [1, 1] are not an axis of 3");
    await expect(cut(0, 2, -1, 4)).rejects.toThrow("parts of extents [-1, 4] are not an axis of 3");
    await expect(cut(0, 2, -1, -1)).rejects.toThrow("parts of extents [-1, -1] are not an axis of 3");
    await expect(cut(0, 2, -2, 5)).rejects.toThrow("parts of extents [-2, 5] are not an axis of 3");
    await expect(cut(2, 2, 1, 2)).rejects.toThrow("axis 2 is outside [-2, 2)");
    await expect(cut(0, 3, 1, 2)).rejects.toThrow("numSplits is 3 and there are 2 extents, but 2 outputs");
    await expect(cut(0, 2, 1, 1, 1)).rejects.toThrow("numSplits is 2 and there are 3 extents, but 2 outputs");
  });
});

describe("DYNAMIC_UPDATE_SLICE", () => {
  const update = (type: Parameters<typeof tensorOf>[0], ...start: readonly number[]) =>
    resultOf("DYNAMIC_UPDATE_SLICE", [
      tensorOf(type, [2, 3], [0, 0, 0, 0, 0, 0]),
      tensorOf(type, [1, 2], [1, 1]),
      list(...start),
    ]);
  it("replaces a box of every type, moved inside", async () => {
    for (const type of realTypes) {
      expect(await update(type, 0, 1)).toEqual([
        [2, 3],
        [0, 1, 1, 0, 0, 0],
      ]);
      expect(await update(type, 9, -9)).toEqual([
        [2, 3],
        [0, 0, 0, 1, 1, 0],
      ]);
    }
    const operands = [longs([3]), longs([1], [9]), longList(2)];
    expect(await resultOf("DYNAMIC_UPDATE_SLICE", operands, int64)).toEqual([[3], [0, 1, 9]]);
  });

  it("refuses an update that is not a part, and other numbers of indexes", async () => {
    await expect(resultOf("DYNAMIC_UPDATE_SLICE", [ints([2]), ints([3]), list(0)])).rejects.toThrow(
      "an update of shape 3 is not a part of 2",
    );
    await expect(resultOf("DYNAMIC_UPDATE_SLICE", [ints([2]), ints([1, 1]), list(0)])).rejects.toThrow(
      "an update of shape 1x1 is not a part of 2",
    );
    await expect(update("TENSOR_INT32", 0)).rejects.toThrow("the shape of the start indices: expected 2, got 1");
  });
});
