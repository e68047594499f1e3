/**
 * Operations that move complex numbers: the real and the imaginary part of each element stay together.
 */
import { describe, expect, test } from "vitest";
import { tfliteTypes } from "../tflite-types.ts";
import { numbersOf } from "./_integers.tflite.ts";
import { type GivenInput, int32, runOperation } from "./_run.tflite.test-helper.ts";

const { TENSOR_COMPLEX64, TENSOR_COMPLEX128 } = tfliteTypes;

/** A list of integers as a constant. */
const list = (dimensions: readonly number[], ...data: number[]): GivenInput => ({
  type: "TENSOR_INT32",
  dimensions,
  data: Int32Array.from(data),
  isConstant: true,
});

const condition = (dimensions: readonly number[], ...data: number[]): GivenInput => ({
  type: "TENSOR_BOOL8",
  dimensions,
  data: Uint8Array.from(data),
});

describe.each([
  ["COMPLEX64", TENSOR_COMPLEX64, Float32Array],
  ["COMPLEX128", TENSOR_COMPLEX128, Float64Array],
] as const)("%s", (_, type, Numbers) => {
  /** Elements n - ni/4, by their n. */
  const complex = (dimensions: readonly number[], ...elements: number[]): GivenInput => ({
    type,
    dimensions,
    data: Numbers.from(elements.flatMap((n) => [n, -n / 4])),
  });
  const cases: readonly (readonly [name: string, inputs: readonly GivenInput[], wanted: GivenInput])[] = [
    ["SLICE", [complex([2, 2], 1, 2, 3, 4), list([2], 0, 1), list([2], 2, 1)], complex([2, 1], 2, 4)],
    [
      "STRIDED_SLICE",
      [complex([4], 1, 2, 3, 4), list([1], 3), list([1], -5), list([1], -2), ...[0, 0, 0].map(int32)],
      complex([2], 4, 2),
    ],
    ["TILE", [complex([2], 1, 2), list([1], 2)], complex([4], 1, 2, 1, 2)],
    ["TRANSPOSE", [complex([2, 2], 1, 2, 3, 4), list([2], 1, 0)], complex([2, 2], 1, 3, 2, 4)],
    ["MIRROR_PAD", [complex([3], 1, 2, 3), list([1, 2], 1, 2), int32(0)], complex([6], 2, 1, 2, 3, 2, 1)],
    ["SELECT", [condition([2], 1, 0), complex([2], 1, 2), complex([2], 3, 4)], complex([2], 1, 4)],
    ["SELECT_V2", [condition([2, 1], 1, 0), complex([1, 2], 1, 2), complex([1], 3)], complex([2, 2], 1, 2, 3, 3)],
    ["FILL", [list([1], 3), complex([1], 5)], complex([3], 5, 5, 5)],
    ["BROADCAST_TO", [complex([2, 1], 1, 2), list([2], 2, 2)], complex([2, 2], 1, 1, 2, 2)],
    ["DILATE", [complex([2], 1, 2), list([1], 2), complex([1], 9)], complex([3], 1, 9, 2)],
    ["EMBEDDING_LOOKUP", [list([2], 1, 0), complex([2, 1], 1, 2)], complex([2, 1], 2, 1)],
    [
      "SPACE_TO_BATCH_ND",
      [complex([1, 3, 1], 1, 2, 3), list([1], 2), list([1, 2], 0, 1)],
      complex([2, 2, 1], 1, 3, 2, 0),
    ],
    [
      "BATCH_TO_SPACE_ND",
      [complex([2, 2, 1], 1, 3, 2, 4), list([1], 2), list([1, 2], 0, 1)],
      complex([1, 3, 1], 1, 2, 3),
    ],
  ];

  test.each(cases)("%s", async (name, inputs, { dimensions, data }) => {
    const [result] = await runOperation(name, inputs, [{ type }]);
    // The zeros of padding have no sign.
    expect(result?.dimensions).toEqual(dimensions);
    expect(Array.from(numbersOf(result?.data ?? new Float32Array()), (value) => value + 0)).toEqual(
      Array.from(numbersOf(data), (value) => value + 0),
    );
  });

  test("the kernel of real numbers sees doubles of COMPLEX128", async () => {
    const data = Numbers.of(1 / 3, 2 / 3);
    const [result] = await runOperation("TILE", [{ type, dimensions: [1], data }, list([1], 1)], [{ type }]);
    expect(result?.data).toEqual(data);
  });

  test("other types of the operation stay as they are", async () => {
    const [result] = await runOperation(
      "TILE",
      [{ type: "TENSOR_FLOAT32", dimensions: [2], data: Float32Array.of(1, 2) }, list([1], 2)],
      [{ type: "TENSOR_FLOAT32" }],
    );
    expect(Array.from(numbersOf(result?.data ?? new Float32Array()))).toEqual([1, 2, 1, 2]);
    const mixed = runOperation("TILE", [complex([1], 1), list([1], 1)], [{ type: "TENSOR_FLOAT32" }]);
    await expect(mixed).rejects.toThrow("TENSOR_FLOAT32");
  });
});
