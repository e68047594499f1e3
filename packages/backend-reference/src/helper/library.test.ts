/** The operations that threads can find. */
import { operations } from "@nnhal/operations";
import { tfliteOperations } from "@nnhal/operations/tflite";
import { expect, it } from "vitest";
import { loadLibrary, tfliteName } from "./library.ts";

it("threads find each operation of the HAL", async () => {
  const find = await loadLibrary([], false);
  for (const operation of operations) expect(find(operation.code, undefined)).toBe(operation);
  expect(find(12345, undefined)).toBeUndefined();
});

it("threads find those of nnhal.tflite if they are wanted, and none of other extensions", async () => {
  const [find, without] = [await loadLibrary([], true), await loadLibrary([], false)];
  for (const operation of tfliteOperations) {
    expect(find(operation.code, tfliteName)).toBe(operation);
    expect(without(operation.code, tfliteName)).toBeUndefined();
    expect(find(operation.code, "com.example.other")).toBeUndefined();
  }
});
