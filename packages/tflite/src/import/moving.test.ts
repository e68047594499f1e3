/**
 * Operators that move elements, with results of another quantisation: TensorFlow Lite copies what is stored.
 */
import { describe, expect, test } from "vitest";
import { execute, importLines, oneOperator } from "../_model.test-helper.ts";
import { importTflite } from "./import.ts";

const x = { type: "INT8", shape: [2, 2], scale: 0.5, zeroPoint: 1 } as const;
const y = { type: "INT8", shape: [4], scale: 0.25, zeroPoint: -1 } as const;

describe("a result of another quantisation", () => {
  const reshape = oneOperator("RESHAPE", { x, s: { type: "INT32", shape: [1], data: [4] } }, { y });

  test("has the elements of the input", async () => {
    expect(importLines(reshape)).toEqual([
      "RESHAPE(in0, INT32[1](4)) -> t0:QUANT8_ASYMM_SIGNED[4]*0.5@1",
      "nnhal.tflite BITCAST(t0) -> out0",
    ]);
    expect(await execute(importTflite(reshape), [[1, -2, 127, -128]])).toEqual([[1, -2, 127, -128]]);
  });

  test("is converted without the extension, which alone copies elements", async () => {
    const model = importTflite(reshape, { extensions: false });
    expect(await execute(model, [[1, 2, 5, -3]])).toEqual([[-1, 1, 7, -9]]);
  });

  test("of an operation of the extension", async () => {
    const half = { ...y, shape: [2] };
    const unpack = oneOperator(
      "UNPACK",
      { x },
      { a: half, b: { ...half, scale: 0.5, zeroPoint: 1 } },
      { num: 2, axis: 0 },
    );
    expect(importLines(unpack)).toEqual([
      "nnhal.tflite UNPACK(in0, 2, 0) -> t0:QUANT8_ASYMM_SIGNED[2]*0.5@1, out1",
      "nnhal.tflite BITCAST(t0) -> out0",
    ]);
    expect(await execute(importTflite(unpack), [[1, 2, 3, 4]])).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  test("of an operation that is not one of those that move elements is refused", () => {
    const diagonal = { type: "INT16", shape: [2], scale: 0.5 } as const;
    const model = oneOperator("MATRIX_DIAG", { diagonal }, { r: { ...diagonal, shape: [2, 2], scale: 0.25 } });
    expect(() => importTflite(model)).toThrow("output 0 needs scale 0.5 and zero point 0");
  });
});
