import { describe, expect, it } from "vitest";
import { tfliteTypes } from "../tflite-types.ts";
import { gatherIndexTypes } from "./_gathered.tflite.ts";
import { indexTypes } from "./_integers.tflite.ts";
import { bool, int32 } from "./_run.tflite.test-helper.ts";
import { depthTypes, movedTypes, realTypes } from "./_types.tflite.ts";
import {
  bools,
  floats,
  ints,
  list,
  longList,
  longs,
  resultOf,
  resultsOf,
  tensorOf,
} from "./_values.tflite.test-helper.ts";

describe("GATHER", () => {
  it("takes elements of every type by indexes of every type", async () => {
    for (const type of movedTypes) {
      for (const index of gatherIndexTypes) {
        const operands = [tensorOf(type, [3, 2], [1, 0, 0, 0, 0, 1]), int32(0), tensorOf(index, [2], [2, 0])];
        expect(await resultOf("GATHER", operands)).toEqual([
          [2, 2],
          [0, 1, 1, 0],
        ]);
      }
    }
  });

  const batch = (batchDims: number, axis: number, indices: ReturnType<typeof list>) =>
    resultOf("GATHER", [ints([2, 3, 2]), int32(axis), indices, int32(batchDims)]);
  it("walks batches of both operands together", async () => {
    expect(await batch(1, 1, ints([2, 2], [2, 0, 1, 1]))).toEqual([
      [2, 2, 2],
      [4, 5, 0, 1, 8, 9, 8, 9],
    ]);
    expect(await batch(-1, -1, ints([2, 1], [1, 0]))).toEqual([
      [2, 3, 1],
      [1, 3, 5, 6, 8, 10],
    ]);
    expect(await batch(2, 2, longs([2, 3], [0, 1, 0, 1, 0, 1]))).toEqual([
      [2, 3],
      [0, 3, 4, 7, 8, 11],
    ]);
  });

  it("leaves the axis out for a scalar, if the result is declared without it", async () => {
    const operands = [ints([2, 3]), int32(1), longList(2)];
    expect(await resultOf("GATHER", operands)).toEqual([
      [2, 1],
      [2, 5],
    ]);
    expect(await resultOf("GATHER", operands, "TENSOR_INT32", { dimensions: [2] })).toEqual([[2], [2, 5]]);
  });

  it("refuses indexes, axes and batches that do not fit", async () => {
    expect(await batch(0, 1, list(2))).toEqual([
      [2, 1, 2],
      [4, 5, 10, 11],
    ]);
    await expect(batch(0, 1, list(3))).rejects.toThrow("index 3 at 0 is outside [0, 3)");
    await expect(batch(0, 1, longList(0, -1))).rejects.toThrow("index -1 at 1 is outside [0, 3)");
    await expect(batch(0, 3, list(0))).rejects.toThrow("axis 3 is outside [-3, 3)");
    await expect(batch(2, 1, ints([2, 3]))).rejects.toThrow(
      "batchDims: expected at most the axis, 1, and the rank of the indices, 2, got 2",
    );
    await expect(batch(2, 2, list(0, 1))).rejects.toThrow(
      "expected at most the axis, 2, and the rank of the indices, 1, got 2",
    );
    await expect(batch(-3, 2, ints([2, 3]))).rejects.toThrow(
      "batchDims: expected at most the axis, 2, and the rank of the indices, 2, got -3",
    );
    await expect(batch(1, 1, ints([3, 1]))).rejects.toThrow(
      "the first 1 axes of the input 2x3x2 and of the indices 3x1 differ",
    );
  });
});

describe("GATHER_ND and SCATTER_ND", () => {
  it("take slices of every type", async () => {
    for (const type of movedTypes) {
      for (const index of gatherIndexTypes) {
        const input = tensorOf(type, [2, 2], [1, 0, 0, 0]);
        const rows = tensorOf(index, [2, 1], [1, 0]);
        expect(await resultOf("GATHER_ND", [input, rows])).toEqual([
          [2, 2],
          [0, 0, 1, 0],
        ]);
        const places = tensorOf(index, [2, 2], [0, 0, 1, 1]);
        expect(await resultOf("GATHER_ND", [input, places])).toEqual([[2], [1, 0]]);
      }
    }
    expect(await resultOf("GATHER_ND", [ints([2, 2]), list(1, 0)])).toEqual([[1], [2]]);
    expect(await resultOf("GATHER_ND", [ints([2]), ints([2, 0])])).toEqual([
      [2, 2],
      [0, 1, 0, 1],
    ]);
  });

  it("add slices of the same places, which wrap", async () => {
    for (const type of depthTypes) {
      const operands = [ints([3, 1], [2, 0, 2]), tensorOf(type, [3, 2], [1, 2, 3, 4, 5, 6]), list(3, 2)];
      expect(await resultOf("SCATTER_ND", operands, type)).toEqual([
        [3, 2],
        [3, 4, 0, 0, 6, 8],
      ]);
    }
    const twice = ints([2, 1], [0, 0]);
    expect(await resultOf("SCATTER_ND", [twice, bools([2], [1, 1]), list(2)], "TENSOR_BOOL8")).toEqual([[2], [1, 0]]);
    const greatest = longs([2], [0, 1]);
    (greatest.data as BigInt64Array)[0] = 2n ** 63n - 1n;
    expect(await resultOf("SCATTER_ND", [twice, greatest, list(1)], tfliteTypes.TENSOR_INT64)).toEqual([
      [1],
      [-(2 ** 63)],
    ]);
  });

  it("refuse indexes and shapes that do not fit", async () => {
    await expect(resultOf("GATHER_ND", [ints([2, 2]), list(1, 2)])).rejects.toThrow(
      "index 2 of axis 1 in list 0 is outside [0, 2)",
    );
    await expect(resultOf("GATHER_ND", [ints([2, 2]), longList(-1, 0)])).rejects.toThrow(
      "index -1 of axis 0 in list 0",
    );
    await expect(resultOf("GATHER_ND", [ints([2]), list(0, 0)])).rejects.toThrow(
      "the indices of shape 2 name 2 axes of 2, which has 1",
    );
    const scatter = (indices: ReturnType<typeof list>, updates: readonly number[], ...shape: readonly number[]) =>
      resultOf("SCATTER_ND", [indices, floats(updates), list(...shape)], "TENSOR_FLOAT32");
    expect(await scatter(ints([1, 1], [1]), [1, 1], 2, 1)).toEqual([
      [2, 1],
      [0, 0],
    ]);
    await expect(scatter(ints([1, 1], [2]), [1, 1], 2, 1)).rejects.toThrow(
      "index 2 of axis 0 in list 0 is outside [0, 2)",
    );
    await expect(scatter(ints([1, 1], [0]), [1, 2], 2, 1)).rejects.toThrow("the updates: expected shape 1x1, got 1x2");
    await expect(scatter(ints([1, 1], [0]), [1], -2)).rejects.toThrow("the extent of axis 0 is -2, less than 0");
    await expect(scatter(ints([1, 2], [0, 0]), [1], 2)).rejects.toThrow("name 2 axes of 2, which has 1");
  });
});

describe("ONE_HOT", () => {
  it("writes values of every type along an axis", async () => {
    for (const type of [...depthTypes, "TENSOR_BOOL8"] as const) {
      for (const index of indexTypes) {
        const operands = [tensorOf(index, [2], [1, 0]), list(3), tensorOf(type, [1], [1]), tensorOf(type, [1], [0])];
        expect(await resultOf("ONE_HOT", [...operands, int32(-1)], type)).toEqual([
          [2, 3],
          [0, 1, 0, 1, 0, 0],
        ]);
        expect(await resultOf("ONE_HOT", [...operands, int32(0)], type)).toEqual([
          [3, 2],
          [0, 1, 1, 0, 0, 0],
        ]);
      }
    }
  });

  const hot = (indices: ReturnType<typeof list>, depth: number, axis: number, dimensions: readonly number[] = []) =>
    resultOf("ONE_HOT", [indices, list(depth), ints([1], [5]), ints([1], [-5]), int32(axis)], "TENSOR_INT32", {
      dimensions,
    });
  it("has no place for indexes outside the depth", async () => {
    expect(await hot(list(-1, 2, 1), 2, -1)).toEqual([
      [3, 2],
      [-5, -5, -5, -5, -5, 5],
    ]);
    expect(await hot(list(0), 0, -1)).toEqual([[1, 0], []]);
    expect(await hot(list(1), 2, -1, [2])).toEqual([[2], [-5, 5]]);
  });

  it("refuses a depth, an axis and values that do not fit", async () => {
    await expect(hot(list(0), -1, -1)).rejects.toThrow("the depth is -1, less than 0");
    await expect(hot(list(0), 1, 2)).rejects.toThrow("axis 2 is outside [-1, 1]");
    await expect(hot(list(0), 1, -2)).rejects.toThrow("axis -2 is outside [-1, 1]");
    const two = ints([2]);
    await expect(resultOf("ONE_HOT", [list(0), list(1), two, list(0), int32(0)])).rejects.toThrow(
      "onValue: expected 1 element, got 2",
    );
    await expect(resultOf("ONE_HOT", [list(0), list(1), list(0), two, int32(0)])).rejects.toThrow(
      "offValue: expected 1 element, got 2",
    );
    await expect(resultOf("ONE_HOT", [list(0), two, list(0), list(0), int32(0)])).rejects.toThrow(
      "depth: expected 1 element, got 2",
    );
  });
});

describe("EMBEDDING_LOOKUP and HASHTABLE_LOOKUP", () => {
  it("take rows of every type", async () => {
    for (const type of realTypes) {
      const table = tensorOf(type, [3, 2], [1, 0, 0, 0, 0, 1]);
      expect(await resultOf("EMBEDDING_LOOKUP", [list(2, 0), table], type)).toEqual([
        [2, 2],
        [0, 1, 1, 0],
      ]);
      const outputs = [
        { type, ...(table.scale && { scale: 1 }) },
        { type: "TENSOR_QUANT8_ASYMM", scale: 1 },
      ] as const;
      const [rows, hits] = await resultsOf("HASHTABLE_LOOKUP", [list(9, 4), list(4, 6, 8), table], outputs);
      expect([rows, hits]).toEqual([
        [
          [2, 2],
          [0, 0, 1, 0],
        ],
        [[2], [0, 1]],
      ]);
    }
  });

  it("multiply INT8 rows by the table's scale, or by their own", async () => {
    const bytes = { ...tensorOf("TENSOR_QUANT8_ASYMM_SIGNED", [2, 2], [1, 2, 3, -4]), scale: 0.5 };
    for (const type of ["TENSOR_FLOAT32", "TENSOR_FLOAT16"] as const) {
      expect(await resultOf("EMBEDDING_LOOKUP", [list(1), bytes], type)).toEqual([
        [1, 2],
        [1.5, -2],
      ]);
    }
    const perRow = {
      ...bytes,
      type: "TENSOR_QUANT8_SYMM_PER_CHANNEL" as const,
      scale: 0,
      channelQuant: { scales: [0.5, 2], channelDim: 0 },
      isConstant: true,
    };
    expect(await resultOf("EMBEDDING_LOOKUP", [list(1, 0), perRow], "TENSOR_FLOAT32")).toEqual([
      [2, 2],
      [6, -8, 0.5, 1],
    ]);
    const perColumn = { ...perRow, channelQuant: { ...perRow.channelQuant, channelDim: 1 } };
    await expect(resultOf("EMBEDDING_LOOKUP", [list(0), perColumn], "TENSOR_FLOAT32")).rejects.toThrow(
      "the scales of the table: expected axis 0, got axis 1",
    );
    await expect(resultOf("EMBEDDING_LOOKUP", [list(0), { ...bytes, zeroPoint: 1 }], "TENSOR_FLOAT32")).rejects.toThrow(
      "the zero point of the table: expected 0 for real results, got 1",
    );
  });

  it("refuse rows that are not there", async () => {
    for (const type of ["TENSOR_FLOAT32", "TENSOR_QUANT8_ASYMM_SIGNED"] as const) {
      const lookedUp = (row: number) =>
        resultOf("EMBEDDING_LOOKUP", [list(row), tensorOf(type, [2, 1], [0, 1])], "TENSOR_FLOAT32");
      expect(await lookedUp(1)).toEqual([[1, 1], [1]]);
      await expect(lookedUp(2)).rejects.toThrow("index 2 at 0 is outside [0, 2)");
      await expect(lookedUp(-1)).rejects.toThrow("index -1 at 0 is outside [0, 2)");
    }
  });
});

describe("EMBEDDING_LOOKUP_SPARSE", () => {
  const lookedUp = (combiner: number, change: Partial<Record<"ids" | "places" | "shape", readonly number[]>> = {}) => {
    const { ids = [1, 0, 1], places = [0, 0, 0, 1, 2, 0], shape = [3, 2] } = change;
    return resultOf(
      "EMBEDDING_LOOKUP_SPARSE",
      [
        list(...ids),
        ints([3, 2], places),
        list(...shape),
        floats([3], [3, 4, 2]),
        floats([2, 1], [1, 10]),
        int32(combiner),
      ],
      "TENSOR_FLOAT32",
    );
  };
  it("adds weighted rows, and divides by the weights", async () => {
    expect(await lookedUp(0)).toEqual([
      [3, 1],
      [34, 0, 20],
    ]);
    expect(await lookedUp(1)).toEqual([
      [3, 1],
      [Math.fround(34 / 7), 0, 10],
    ]);
    expect(await lookedUp(2)).toEqual([
      [3, 1],
      [Math.fround(34 / 5), 0, 10],
    ]);
  });

  it("refuses rows and places that are not there", async () => {
    await expect(lookedUp(0, { ids: [2, 0, 0] })).rejects.toThrow("index 2 at 0 is outside [0, 2)");
    await expect(lookedUp(0, { ids: [0, -1, 0] })).rejects.toThrow("index -1 at 1 is outside [0, 2)");
    await expect(lookedUp(0, { places: [0, 0, 0, 1, 3, 0] })).rejects.toThrow(
      "place 3 on axis 0 of index 2 is outside [0, 3)",
    );
    await expect(lookedUp(0, { shape: [3] })).rejects.toThrow("the shape of the indices: expected 3x1, got 3x2");
    await expect(lookedUp(0, { shape: [-3, 2] })).rejects.toThrow("the dense shape [-3, 2] is not a list of extents");
    await expect(lookedUp(0, { ids: [0, 1] })).rejects.toThrow("the shape of the indices: expected 2x2, got 3x2");
    await expect(lookedUp(3)).rejects.toThrow("the combiner: expected 0 (SUM), 1 (MEAN) or 2 (SQRTN), got 3");
  });
});

describe("SPARSE_TO_DENSE", () => {
  it("writes values of every type at places of every type", async () => {
    for (const type of depthTypes) {
      for (const index of indexTypes) {
        const places = tensorOf(index, [2, 2], [0, 1, 1, 0]);
        const values = [tensorOf(type, [2], [5, 6]), tensorOf(type, [1], [9]), bool(true)];
        const written = await resultOf("SPARSE_TO_DENSE", [places, longList(2, 2), ...values], type);
        expect(written).toEqual([
          [2, 2],
          [9, 5, 6, 9],
        ]);
      }
    }
    const list1d = await resultOf("SPARSE_TO_DENSE", [list(0, 2), list(3), ints([1], [7]), list(0), bool(false)]);
    expect(list1d).toEqual([[3], [7, 0, 7]]);
  });

  it("refuses places, values and shapes that do not fit", async () => {
    const write = (places: ReturnType<typeof list>, shape: readonly number[], values: number, defaults = 1) =>
      resultOf("SPARSE_TO_DENSE", [places, list(...shape), ints([values]), ints([defaults]), bool(false)]);
    await expect(write(list(3), [3], 1)).rejects.toThrow("index 3 of axis 0 in list 0 is outside [0, 3)");
    await expect(write(list(-1), [3], 1)).rejects.toThrow("index -1 of axis 0 in list 0 is outside [0, 3)");
    await expect(write(list(0, 1, 2), [3], 2)).rejects.toThrow("there are 2 values for 3 places");
    await expect(write(list(0), [3, 3], 1)).rejects.toThrow("a place: expected 2 indexes (one for each axis), got 1");
    await expect(write(list(0), [-3], 1)).rejects.toThrow("the extent of axis 0 is -3, less than 0");
    await expect(write(list(0), [3], 1, 2)).rejects.toThrow("the default value: expected 1 element, got 2");
  });
});
