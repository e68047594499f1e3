import { describe, expect, it } from "vitest";
import { tfliteTypes } from "../tflite-types.ts";
import { indexTypes } from "./_integers.tflite.ts";
import { int32 } from "./_run.tflite.test-helper.ts";
import { realTypes, splitTypes } from "./_types.tflite.ts";
import { bools, floats, ints, list, longs, resultOf, resultsOf, tensorOf } from "./_values.tflite.test-helper.ts";

const { TENSOR_INT64, TENSOR_UINT32 } = tfliteTypes;

describe("SELECT", () => {
  const select = (condition: ReturnType<typeof bools>, type: Parameters<typeof tensorOf>[0] = "TENSOR_INT32") =>
    resultOf("SELECT", [condition, tensorOf(type, [2, 2], [1, 1, 1, 1]), tensorOf(type, [2, 2], [0, 0, 0, 0])], type);
  it("takes elements, slices or all of a tensor, of every type", async () => {
    for (const type of realTypes) {
      expect(await select(bools([2, 2], [1, 0, 0, 1]), type)).toEqual([
        [2, 2],
        [1, 0, 0, 1],
      ]);
      expect(await select(bools([2], [0, 1]), type)).toEqual([
        [2, 2],
        [0, 0, 1, 1],
      ]);
      expect(await select(bools([1], [1]), type)).toEqual([
        [2, 2],
        [1, 1, 1, 1],
      ]);
    }
  });

  it("copies quantised elements as they are", async () => {
    const [a, b] = [
      tensorOf("TENSOR_QUANT8_ASYMM", [1], [7]),
      { ...tensorOf("TENSOR_QUANT8_ASYMM", [1], [9]), scale: 4 },
    ];
    expect(await resultOf("SELECT", [bools([1], [0]), a, b], a.type)).toEqual([[1], [9]]);
  });

  it("refuses shapes that do not fit", async () => {
    await expect(select(bools([3], [0, 0, 0]))).rejects.toThrow(
      "the condition: expected 2x2, its first extent or 1, got 3",
    );
    await expect(select(bools([1, 2], [0, 0]))).rejects.toThrow(
      "the condition: expected 2x2, its first extent or 1, got 1x2",
    );
    await expect(resultOf("SELECT", [bools([2], [0, 1]), ints([2]), ints([1])], "TENSOR_INT32")).rejects.toThrow(
      "whenFalse: expected whenTrue's shape 2, got 1",
    );
  });
});

describe("SELECT_V2", () => {
  it("broadcasts operands of every type", async () => {
    for (const type of realTypes) {
      const operands = [bools([2, 1], [1, 0]), tensorOf(type, [2], [1, 0]), tensorOf(type, [1, 1], [1])];
      expect(await resultOf("SELECT_V2", operands, type)).toEqual([
        [2, 2],
        [1, 0, 1, 1],
      ]);
    }
  });

  it("refuses shapes that do not broadcast", async () => {
    const operands = [bools([2], [1, 0]), ints([3]), ints([1])];
    await expect(resultOf("SELECT_V2", operands, "TENSOR_INT32")).rejects.toThrow("shapes 2 and 3 do not broadcast");
  });
});

describe("WHERE", () => {
  it("returns the places of what is not 0, of every type", async () => {
    const types = [
      "TENSOR_BOOL8",
      "TENSOR_FLOAT32",
      "TENSOR_INT32",
      TENSOR_INT64,
      TENSOR_UINT32,
      "TENSOR_QUANT8_ASYMM",
      "TENSOR_QUANT8_ASYMM_SIGNED",
    ] as const;
    for (const type of types) {
      const condition = tensorOf(type, [2, 1, 2], [0, 1, 1, 1]);
      expect(await resultOf("WHERE", [condition], TENSOR_INT64)).toEqual([
        [3, 3],
        [0, 0, 1, 1, 0, 0, 1, 0, 1],
      ]);
    }
  });

  it("counts every number but 0, also -0, and may return none", async () => {
    const numbers = floats([5], [-1, 0, -0, Number.NaN, 0.1]);
    expect(await resultOf("WHERE", [numbers], TENSOR_INT64)).toEqual([
      [3, 1],
      [0, 3, 4],
    ]);
    expect(await resultOf("WHERE", [bools([2, 2], [0, 0, 0, 0])], TENSOR_INT64)).toEqual([[0, 2], []]);
    expect(await resultOf("WHERE", [bools([0, 2], [])], TENSOR_INT64)).toEqual([[0, 2], []]);
  });
});

describe("ARGMAX and ARGMIN", () => {
  const types = [
    "TENSOR_FLOAT32",
    "TENSOR_INT32",
    "TENSOR_QUANT8_ASYMM",
    "TENSOR_QUANT8_ASYMM_SIGNED",
    "TENSOR_BOOL8",
  ] as const;
  it("return the first place of the extreme, for every type", async () => {
    for (const type of types) {
      for (const result of indexTypes) {
        const input = tensorOf(type, [2, 3], [0, 1, 1, 1, 0, 0]);
        expect(await resultOf("ARGMAX", [input, int32(1)], result)).toEqual([[2], [1, 0]]);
        expect(await resultOf("ARGMIN", [input, list(-1)], result)).toEqual([[2], [0, 1]]);
        expect(await resultOf("ARGMAX", [input, longs([1], [0])], result)).toEqual([[3], [1, 0, 0]]);
      }
    }
    expect(await resultOf("ARGMAX", [ints([3]), list(0)])).toEqual([[1], [2]]);
  });

  it("refuse axes that are not there, or have no elements", async () => {
    await expect(resultOf("ARGMAX", [ints([2]), list(1)])).rejects.toThrow("axis 1 is outside [-1, 1)");
    await expect(resultOf("ARGMIN", [ints([2]), list(0, 0)])).rejects.toThrow("axis: expected 1 element, got 2");
    await expect(resultOf("ARGMAX", [ints([2, 0]), list(1)])).rejects.toThrow("axis 1 has no elements");
  });
});

describe("TOPK_V2", () => {
  const shorts = "TENSOR_QUANT16_SYMM" as const;
  it("returns the greatest of every type, the first of equal ones first", async () => {
    for (const type of splitTypes) {
      for (const index of ["TENSOR_INT32", shorts] as const) {
        const k = tensorOf(index, [1], [3]);
        const outputs = [type, index].map((each) => ({ type: each, scale: String(each).includes("QUANT") ? 1 : 0 }));
        const input = tensorOf(type, [2, 4], [1, 3, 2, 3, 5, 5, 5, 5]);
        expect(await resultsOf("TOPK_V2", [input, k], outputs)).toEqual([
          [
            [2, 3],
            [3, 3, 2, 5, 5, 5],
          ],
          [
            [2, 3],
            [1, 3, 2, 0, 1, 2],
          ],
        ]);
      }
    }
  });

  const outputs = [{ type: "TENSOR_FLOAT32" }, { type: "TENSOR_INT32" }] as const;
  const top = (k: number, ...values: readonly number[]) =>
    resultsOf("TOPK_V2", [floats([values.length], values), list(k)], outputs);
  it("puts NaN last, and returns nothing for a k of 0 or less", async () => {
    expect(await top(3, Number.NaN, 1, Number.NaN)).toEqual([
      [[3], [1, Number.NaN, Number.NaN]],
      [[3], [1, 0, 2]],
    ]);
    expect(await top(0, 1, 2)).toEqual([
      [[0], []],
      [[0], []],
    ]);
    expect(await top(-1, 1, 2)).toEqual([
      [[0], []],
      [[0], []],
    ]);
  });

  it("refuses a k of more than there are, and indices that cannot hold the places", async () => {
    await expect(top(3, 1, 2)).rejects.toThrow("k: expected at most 2 (the last extent), got 3");
    const long = (count: number) =>
      resultsOf("TOPK_V2", [floats([count]), list(1)], [{ type: "TENSOR_FLOAT32" }, { type: shorts, scale: 1 }]);
    expect(await long(2 ** 15 - 1)).toEqual([
      [[1], [2 ** 15 - 2]],
      [[1], [2 ** 15 - 2]],
    ]);
    await expect(long(2 ** 15)).rejects.toThrow("the last extent is 32768 where the indices hold at most 32767");
  });
});

describe("UNIQUE", () => {
  it("returns the different elements of every type, and their places", async () => {
    for (const type of splitTypes) {
      for (const index of indexTypes) {
        const input = tensorOf(type, [5], [3, 1, 3, 2, 1]);
        const output = { type, scale: String(type).includes("QUANT") ? 1 : 0 };
        const results = await resultsOf(
          "UNIQUE",
          [input, int32(index === "TENSOR_INT32" ? 2 : 4)],
          [output, { type: index }],
        );
        expect(results).toEqual([
          [[3], [3, 1, 2]],
          [[5], [0, 1, 0, 2, 1]],
        ]);
      }
    }
  });

  it("returns nothing of nothing", async () => {
    const outputs = [{ type: "TENSOR_INT32" }, { type: "TENSOR_INT32" }] as const;
    expect(await resultsOf("UNIQUE", [ints([0]), int32(2)], outputs)).toEqual([
      [[0], []],
      [[0], []],
    ]);
  });
});

describe("BUCKETIZE", () => {
  const bucket = (input: ReturnType<typeof floats>, ...boundaries: readonly number[]) =>
    resultOf("BUCKETIZE", [input, floats([boundaries.length], boundaries)], "TENSOR_INT32");
  it("counts the boundaries that are at most as great, for every type", async () => {
    for (const type of ["TENSOR_FLOAT32", tfliteTypes.TENSOR_FLOAT64, "TENSOR_INT32", TENSOR_INT64] as const) {
      expect(await bucket(tensorOf(type, [5], [-1, 0, 1, 3, 9]), 0, 1, 1, 3.5)).toEqual([[5], [0, 1, 3, 3, 4]]);
    }
    expect(await bucket(floats([3], [Number.NaN, Number.POSITIVE_INFINITY, 0]))).toEqual([[3], [0, 0, 0]]);
    expect(await bucket(floats([1], [Number.NaN]), 1, 2)).toEqual([[1], [2]]);
  });

  it("compares integers as the float32 next to them", async () => {
    expect(await bucket(ints([1], [2 ** 24 + 1]), 2 ** 24)).toEqual([[1], [1]]);
    expect(await bucket(ints([1], [2 ** 24 - 1]), 2 ** 24)).toEqual([[1], [0]]);
  });

  it("refuses boundaries that are not in order", async () => {
    await expect(bucket(floats([1]), 1, 3, 2)).rejects.toThrow("boundary 2 is 2, less than 3 before it");
    await expect(bucket(floats([1]), 1, Number.NaN)).rejects.toThrow("boundary 1 is NaN");
  });
});

describe("NON_MAX_SUPPRESSION_V4 and V5", () => {
  /** Three boxes of 1x1 and an empty one. The second overlaps the first by 3/5 of their union. */
  const boxes = floats([4, 4], [0, 0, 1, 1, 1, 1.25, 0, 0.25, 5, 5, 6, 6, 8, 8, 8, 9]);
  const scores = floats([4], [0.9, 0.8, 0.7, 0.1]);
  const number = (value: number) => floats([1], [value]);
  const hard = (most: number, iou: number, least: number) =>
    resultsOf(
      "NON_MAX_SUPPRESSION_V4",
      [boxes, scores, list(most), number(iou), number(least)],
      [{ type: "TENSOR_INT32" }, { type: "TENSOR_INT32" }],
    );
  const soft = (most: number, iou: number, least: number, sigma: number) =>
    resultsOf(
      "NON_MAX_SUPPRESSION_V5",
      [boxes, scores, list(most), number(iou), number(least), number(sigma)],
      [{ type: "TENSOR_INT32" }, { type: "TENSOR_FLOAT32" }, { type: "TENSOR_INT32" }],
    );

  it("choose boxes that do not overlap too much, best first", async () => {
    expect(await hard(3, 0.5, 0.2)).toEqual([
      [[3], [0, 2, 0]],
      [[1], [2]],
    ]);
    expect(await hard(3, 0.61, 0.2)).toEqual([
      [[3], [0, 1, 2]],
      [[1], [3]],
    ]);
    expect(await hard(2, 0.61, 0.2)).toEqual([
      [[2], [0, 1]],
      [[1], [2]],
    ]);
    expect(await hard(0, 0.61, 0.2)).toEqual([
      [[0], []],
      [[1], [0]],
    ]);
  });

  it("choose only boxes with a greater score", async () => {
    expect(await hard(2, 1, Math.fround(0.8))).toEqual([
      [[2], [0, 0]],
      [[1], [1]],
    ]);
    expect(await hard(2, 1, 0.79)).toEqual([
      [[2], [0, 1]],
      [[1], [2]],
    ]);
  });

  it("lower the scores of boxes that overlap chosen ones", async () => {
    const [indices, chosen, count] = await soft(3, 0.9, 0.2, 0.5);
    expect([indices, count]).toEqual([
      [[3], [0, 2, 1]],
      [[1], [3]],
    ]);
    const lowered = 0.8 * Math.exp(-(0.6 ** 2));
    expect(chosen[1].map((score) => Math.round(score * 1e6))).toEqual(
      [0.9, 0.7, lowered].map((score) => Math.round(score * 1e6)),
    );
    const few = await soft(3, 0.9, 0.6, 0.5);
    expect([few[0], few[2]]).toEqual([
      [[3], [0, 2, 0]],
      [[1], [2]],
    ]);
    expect(few[1][1][2]).toBe(0);
  });

  it("choose an empty box again while there is room, as .tflite does", async () => {
    expect(await hard(6, 0.5, 0)).toEqual([
      [[6], [0, 2, 3, 3, 0, 0]],
      [[1], [4]],
    ]);
  });

  it("choose the first of boxes with equal scores", async () => {
    const equal = [floats([3, 4], [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]), floats([3], [0.5, 0.5, 0.5])];
    const outputs = [{ type: "TENSOR_INT32" }, { type: "TENSOR_INT32" }] as const;
    const [indices] = await resultsOf("NON_MAX_SUPPRESSION_V4", [...equal, list(3), number(0.5), number(0)], outputs);
    expect(indices).toEqual([[3], [0, 1, 2]]);
  });

  it("refuse operands that do not fit", async () => {
    await expect(hard(-1, 0.5, 0)).rejects.toThrow("maxOutputSize is -1, less than 0");
    await expect(soft(-1, 0.5, 0, 0)).rejects.toThrow("maxOutputSize is -1, less than 0");
    await expect(soft(1, 0.5, 0, -1)).rejects.toThrow("sigma: expected a number of at least 0, got -1");
    await expect(soft(1, 0.5, 0, Number.NaN)).rejects.toThrow("sigma: expected a number of at least 0, got NaN");
    const outputs = [{ type: "TENSOR_INT32" }, { type: "TENSOR_INT32" }] as const;
    const few = [boxes, floats([3]), list(1), number(0.5), number(0)];
    await expect(resultsOf("NON_MAX_SUPPRESSION_V4", few, outputs)).rejects.toThrow(
      "the shape of the boxes: expected 3x4, got 4x4",
    );
  });
});
