import { expect, test } from "vitest";
import { int32, runOperation } from "./_run.tflite.test-helper.ts";

test.each([1, 5, 6])("L2_NORMALIZATION of %d axes divides by the length along the last one", async (rank) => {
  const dimensions = [...new Array<number>(rank - 1).fill(1), 2];
  const input = { type: "TENSOR_FLOAT32", dimensions, data: Float32Array.of(3, 4) } as const;
  expect(await runOperation("L2_NORMALIZATION", [input], [{ type: "TENSOR_FLOAT32" }])).toEqual([
    { dimensions, data: Float32Array.of(0.6, 0.8) },
  ]);
});

test("an axis that is not there is refused", async () => {
  const input = { type: "TENSOR_FLOAT32", dimensions: [1, 1, 1, 1, 2], data: Float32Array.of(3, 4) } as const;
  await expect(runOperation("L2_NORMALIZATION", [input, int32(5)], [{ type: "TENSOR_FLOAT32" }])).rejects.toThrow(
    "axis",
  );
});
