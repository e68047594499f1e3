import { expect, test } from "vitest";
import { tfliteTypes } from "../tflite-types.ts";
import { type GivenInput, int32, omit, runOperation } from "./_run.tflite.test-helper.ts";

const hash: GivenInput = {
  type: "TENSOR_FLOAT32",
  dimensions: [3, 2],
  data: Float32Array.of(0.123, 0.456, -0.321, 1.234, 5.678, -4.321),
};
const weight: GivenInput = {
  type: "TENSOR_FLOAT32",
  dimensions: [3],
  data: Float32Array.of(0.12, 0.34, 0.56),
};
const [dense, sparse] = [int32(2), int32(3)];
const input: GivenInput = { type: "TENSOR_INT32", dimensions: [3, 2], data: Int32Array.of(1, 2, 3, 4, 5, 6) };
const output = [{ type: "TENSOR_INT32" }] as const;

const project = async (...inputs: GivenInput[]) => {
  const [result] = await runOperation("LSH_PROJECTION", inputs, output);
  return Array.from(result?.data as Int32Array);
};

test("a sparse result has the bits of the dense one, with weights too", async () => {
  for (const weights of [weight, omit()]) {
    const bits = await project(hash, input, weights, dense);
    expect(bits).toHaveLength(6);
    const signatures = [0, 1, 2].map((row) => 4 * row + 2 * (bits[2 * row] ?? 0) + (bits[2 * row + 1] ?? 0));
    expect(await project(hash, input, weights, sparse)).toEqual(signatures);
  }
});

test("the bytes of elements are hashed, whatever their type", async () => {
  const longs: GivenInput = {
    type: tfliteTypes.TENSOR_INT64,
    dimensions: [3],
    data: new BigInt64Array(Int32Array.of(1, 2, 3, 4, 5, 6).buffer),
  };
  const bytes: GivenInput = {
    type: "TENSOR_BOOL8",
    dimensions: [3, 8],
    data: new Uint8Array(Int32Array.of(1, 2, 3, 4, 5, 6).buffer),
  };
  const wanted = await project(hash, input, omit(), dense);
  for (const same of [longs, bytes]) expect(await project(hash, same, omit(), dense)).toEqual(wanted);
});

test("there is a weight for each slice", async () => {
  await expect(project(hash, { ...input, dimensions: [2, 3] }, weight, sparse)).rejects.toThrow(
    "there are 3 weights for 2 slices of the input",
  );
});
