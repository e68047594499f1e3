import { describe, expect, it } from "vitest";
import { tfliteTypes } from "../tflite-types.ts";
import { indexTypes } from "./_integers.tflite.ts";
import { float32, int32, runOperation } from "./_run.tflite.test-helper.ts";
import { packTypes, realTypes } from "./_types.tflite.ts";
import { floats, ints, list, longList, longs, resultOf, tensorOf } from "./_values.tflite.test-helper.ts";

const { TENSOR_COMPLEX64, TENSOR_FLOAT64, TENSOR_INT64, TENSOR_UINT32, TENSOR_UINT64 } = tfliteTypes;

describe("FILL and ZEROS_LIKE", () => {
  it("fill with a value of every type, by extents of every type", async () => {
    for (const type of realTypes) {
      for (const integer of indexTypes) {
        const operands = [tensorOf(integer, [2], [1, 2]), tensorOf(type, [1], [1])];
        expect(await resultOf("FILL", operands, type)).toEqual([
          [1, 2],
          [1, 1],
        ]);
      }
    }
    expect(await resultOf("FILL", [list(2), float32(1.5)], "TENSOR_FLOAT32")).toEqual([[2], [1.5, 1.5]]);
    expect(await resultOf("FILL", [list(2), int32(-5)], "TENSOR_INT32")).toEqual([[2], [-5, -5]]);
    expect(await resultOf("FILL", [list(), ints([1], [4])])).toEqual([[1], [4]]);
    expect(await resultOf("FILL", [list(2, 0), ints([1])])).toEqual([[2, 0], []]);
  });

  it("refuse extents of less than 0, and values of several elements", async () => {
    await expect(resultOf("FILL", [longList(2, -1), ints([1])], "TENSOR_INT32")).rejects.toThrow(
      "the extent of axis 1 is -1, less than 0",
    );
    await expect(resultOf("FILL", [list(1), ints([2])])).rejects.toThrow("the value: expected 1 element, got 2");
  });

  it("are zeros in the shape of a tensor", async () => {
    for (const type of ["TENSOR_FLOAT32", "TENSOR_INT32", TENSOR_INT64] as const) {
      expect(await resultOf("ZEROS_LIKE", [tensorOf(type, [1, 2], [3, 4])])).toEqual([
        [1, 2],
        [0, 0],
      ]);
    }
    // Large enough that the memory of an earlier result is used again.
    const many = ints([5000]);
    expect((await resultOf("ZEROS_LIKE", [many]))[1].every((element) => element === 0)).toBe(true);
  });
});

describe("RANGE", () => {
  const range = (
    make: (dimensions: readonly number[], values: readonly number[]) => ReturnType<typeof ints>,
    ...operands: readonly number[]
  ) =>
    resultOf(
      "RANGE",
      operands.map((value) => make([1], [value])),
    );
  it("counts up and down in every type", async () => {
    for (const make of [floats, ints, longs]) {
      expect(await range(make, 1, 6, 2)).toEqual([[3], [1, 3, 5]]);
      expect(await range(make, 1, 5, 2)).toEqual([[2], [1, 3]]);
      expect(await range(make, 2, -2, -3)).toEqual([[2], [2, -1]]);
      expect(await range(make, 2, 2, 1)).toEqual([[0], []]);
      await expect(range(make, 2, 2, 0)).rejects.toThrow("a delta of 0 does not lead from 2 to 2");
      await expect(range(make, 2, 3, -1)).rejects.toThrow("a delta of -1 does not lead from 2 to 3");
      await expect(range(make, 3, 2, 1)).rejects.toThrow("a delta of 1 does not lead from 3 to 2");
    }
  });

  it("adds float32 numbers one after another", async () => {
    const tenth = Math.fround(0.1);
    const sums = [0];
    while (sums.length < 10) sums.push(Math.fround(sums[sums.length - 1] + tenth));
    expect(await range(floats, 0, 1, 0.1)).toEqual([[10], sums]);
  });

  it("counts beyond 2^53 exactly", async () => {
    const start = { type: TENSOR_INT64, dimensions: [1], data: BigInt64Array.of(2n ** 62n) };
    const limit = { ...start, data: BigInt64Array.of(2n ** 62n + 3n) };
    const [{ data }] = await runOperation("RANGE", [start, limit, longs([1], [2])], [{ type: TENSOR_INT64 }]);
    expect(data).toEqual(BigInt64Array.of(2n ** 62n, 2n ** 62n + 2n));
  });

  it("refuses more elements than 32 bits count, and what is not a number", async () => {
    await expect(range(longs, 0, 2 ** 40, 1)).rejects.toThrow("are 1099511627776 elements, more than 2^31 - 1");
    await expect(range(floats, 0, Number.POSITIVE_INFINITY, 1)).rejects.toThrow("more than 2^31 - 1");
    await expect(
      range(floats, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY),
    ).rejects.toThrow("are NaN elements");
    await expect(range(floats, 0, 1, Number.NaN)).rejects.toThrow("a delta of NaN does not lead from 0 to 1");
    await expect(resultOf("RANGE", [ints([2]), ints([1]), ints([1])])).rejects.toThrow(
      "start: expected 1 element, got 2",
    );
  });
});

describe("MATRIX_DIAG and MATRIX_SET_DIAG", () => {
  it("write diagonals of every type", async () => {
    for (const type of packTypes) {
      const diagonal = tensorOf(type, [2, 2], [1, 2, 3, 4]);
      expect(await resultOf("MATRIX_DIAG", [diagonal])).toEqual([
        [2, 2, 2],
        [1, 0, 0, 2, 3, 0, 0, 4],
      ]);
      const wide = [tensorOf(type, [2, 3], [9, 9, 9, 9, 9, 9]), tensorOf(type, [2], [1, 2])];
      expect(await resultOf("MATRIX_SET_DIAG", wide)).toEqual([
        [2, 3],
        [1, 9, 9, 9, 2, 9],
      ]);
      const high = [tensorOf(type, [2, 2, 1], [9, 9, 9, 9]), tensorOf(type, [2, 1], [1, 2])];
      expect(await resultOf("MATRIX_SET_DIAG", high)).toEqual([
        [2, 2, 1],
        [1, 9, 2, 9],
      ]);
    }
  });

  it("refuse a diagonal of another shape", async () => {
    await expect(resultOf("MATRIX_SET_DIAG", [ints([2, 3]), ints([3])])).rejects.toThrow(
      "the shape of the diagonal: expected 2, got 3",
    );
  });
});

describe("CAST", () => {
  const cast = (from: ReturnType<typeof floats>, to: Parameters<typeof tensorOf>[0]) => resultOf("CAST", [from], to);
  it("keeps numbers that both types have, between all types", async () => {
    for (const from of realTypes) {
      for (const to of realTypes) expect(await cast(tensorOf(from, [2], [0, 1]), to)).toEqual([[2], [0, 1]]);
    }
  });

  it("truncates real numbers, and takes the nearest of those outside", async () => {
    const numbers = floats([8], [1.9, -1.9, 1e10, -1e10, Number.NaN, Number.POSITIVE_INFINITY, 255, 256]);
    expect(await cast(numbers, "TENSOR_QUANT8_ASYMM")).toEqual([[8], [1, 0, 255, 0, 255, 255, 255, 255]]);
    expect(await cast(numbers, "TENSOR_QUANT16_SYMM")).toEqual([[8], [1, -1, 32767, -32768, 32767, 32767, 255, 256]]);
    expect(await cast(numbers, TENSOR_UINT32)).toEqual([
      [8],
      [1, 0, 2 ** 32 - 1, 0, 2 ** 32 - 1, 2 ** 32 - 1, 255, 256],
    ]);
    const [{ data }] = await runOperation("CAST", [floats([3], [-1.5, 2 ** 63, Number.NaN])], [{ type: TENSOR_INT64 }]);
    expect(data).toEqual(BigInt64Array.of(-1n, 2n ** 63n - 1n, 2n ** 63n - 1n));
    const [unsigned] = await runOperation("CAST", [floats([2], [-1.5, 2 ** 64])], [{ type: TENSOR_UINT64 }]);
    expect(unsigned.data).toEqual(BigUint64Array.of(0n, 2n ** 64n - 1n));
  });

  it("keeps the low bits of integers", async () => {
    expect(await cast(ints([3], [257, -1, 511]), "TENSOR_QUANT8_ASYMM")).toEqual([[3], [1, 255, 255]]);
    expect(await cast(longs([2], [2 ** 32 + 5, -1]), "TENSOR_INT32")).toEqual([[2], [5, -1]]);
    expect(await cast(longs([2], [2 ** 32 + 5, -1]), TENSOR_UINT32)).toEqual([[2], [5, 2 ** 32 - 1]]);
    expect(await cast(longs([1], [2 ** 40]), "TENSOR_FLOAT32")).toEqual([[1], [2 ** 40]]);
    const [{ data }] = await runOperation("CAST", [ints([1], [-1])], [{ type: TENSOR_UINT64 }]);
    expect(data).toEqual(BigUint64Array.of(2n ** 64n - 1n));
  });

  it("takes all but 0 for true, and quantised elements for the integers that they are stored as", async () => {
    expect(await cast(floats([4], [0.25, -0, Number.NaN, -3]), "TENSOR_BOOL8")).toEqual([[4], [1, 0, 1, 1]]);
    const byte = { ...tensorOf("TENSOR_QUANT8_ASYMM", [1], [7]), scale: 0.5, zeroPoint: 3 };
    expect(await cast(byte, TENSOR_FLOAT64)).toEqual([[1], [7]]);
  });

  it("takes the real part of complex numbers, and makes them of real ones", async () => {
    const complex = { type: TENSOR_COMPLEX64, dimensions: [2], data: Float32Array.of(1.5, 9, -2, 8) };
    expect(await cast(complex, "TENSOR_INT32")).toEqual([[2], [1, -2]]);
    expect(await cast(longs([2], [3, 4]), TENSOR_COMPLEX64)).toEqual([[2], [3, 0, 4, 0]]);
    expect(await cast(complex, TENSOR_COMPLEX64)).toEqual([[2], [1.5, 9, -2, 8]]);
  });

  it("refuses another shape", async () => {
    await expect(resultOf("CAST", [ints([2])], TENSOR_INT64, { dimensions: [3] })).rejects.toThrow(
      "the output: expected the input's shape 2, got 3",
    );
  });
});
