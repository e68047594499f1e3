import { describe, expect, it } from "vitest";
import { tfliteTypes } from "../tflite-types.ts";
import { runOperation } from "./_run.tflite.test-helper.ts";

const { TENSOR_INT64 } = tfliteTypes;
const order = (...axes: number[]) => ({
  type: "TENSOR_INT32" as const,
  dimensions: [axes.length],
  data: Int32Array.from(axes),
});

describe("TRANSPOSE", () => {
  it("moves 64-bit integers", async () => {
    const input = { type: TENSOR_INT64, dimensions: [2, 3], data: BigInt64Array.of(1n, 2n, 3n, 4n, 5n, 2n ** 62n) };
    expect(await runOperation("TRANSPOSE", [input, order(1, 0)], [{ type: TENSOR_INT64 }])).toEqual([
      { dimensions: [3, 2], data: BigInt64Array.of(1n, 4n, 2n, 5n, 3n, 2n ** 62n) },
    ]);
  });

  it("accepts more than 4 axes", async () => {
    const input = { type: "TENSOR_FLOAT32" as const, dimensions: [1, 1, 2, 1, 2], data: Float32Array.of(1, 2, 3, 4) };
    expect(await runOperation("TRANSPOSE", [input, order(4, 3, 2, 1, 0)], [{ type: "TENSOR_FLOAT32" }])).toEqual([
      { dimensions: [2, 1, 2, 1, 1], data: Float32Array.of(1, 3, 2, 4) },
    ]);
  });

  it("refuses a list that is not a permutation, and another type of the result", async () => {
    const input = { type: TENSOR_INT64, dimensions: [1, 1], data: BigInt64Array.of(1n) };
    await expect(runOperation("TRANSPOSE", [input, order(0, 0)], [{ type: TENSOR_INT64 }])).rejects.toThrow(
      "[0,0] is not a permutation of the axes 0 to 1",
    );
    await expect(runOperation("TRANSPOSE", [input, order(1, 0)], [{ type: "TENSOR_INT32" }])).rejects.toThrow(
      "TRANSPOSE: input 0 (input): expected TENSOR_INT32, got nnhal.tflite TENSOR_INT64",
    );
  });
});
