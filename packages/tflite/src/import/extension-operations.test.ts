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

  test("of each part of a SPLIT", async () => {
    const half = { ...y, shape: [1, 2] };
    const axis = { type: "INT32", shape: [], data: [0] } as const;
    const split = oneOperator("SPLIT", { axis, x }, { a: { ...x, shape: [1, 2] }, b: half }, { numSplits: 2 });
    expect(importLines(split)).toEqual([
      "nnhal.tflite SPLIT(in0, INT32[1](0), 2) -> out0, t0:QUANT8_ASYMM_SIGNED[1,2]*0.5@1",
      "nnhal.tflite BITCAST(t0) -> out1",
    ]);
    expect(await execute(importTflite(split), [[1, 2, 3, 4]])).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  const vector = { type: "INT8", shape: [2], scale: 0.5, zeroPoint: 1 } as const;
  const other = { ...y, shape: [2, 2] };
  const indexes = (...data: number[]) => ({ type: "INT32", shape: [data.length], data }) as const;

  test.each([
    ["MATRIX_DIAG", oneOperator("MATRIX_DIAG", { vector }, { other }), [[3, 5]], [3, 0, 0, 5]],
    [
      "MATRIX_SET_DIAG",
      oneOperator("MATRIX_SET_DIAG", { x, vector }, { other }),
      [
        [1, 2, 3, 4],
        [6, 7],
      ],
      [6, 2, 3, 7],
    ],
    [
      "SPARSE_TO_DENSE",
      oneOperator(
        "SPARSE_TO_DENSE",
        { places: indexes(0, 3), shape: indexes(4), vector, rest: { ...vector, shape: [], data: [9] } },
        { y },
        { validateIndices: true },
      ),
      [[3, 5]],
      [3, 9, 9, 5],
    ],
  ])("of %s", async (_, model, inputs, result) => {
    expect((await execute(importTflite(model), inputs))[0]).toEqual(result);
  });

  test("of a HASHTABLE_LOOKUP", async () => {
    const model = oneOperator(
      "HASHTABLE_LOOKUP",
      { lookups: indexes(7, 2), keys: indexes(2, 7), x },
      { other, hits: { type: "UINT8", shape: [2], scale: 1 } },
    );
    expect(await execute(importTflite(model), [[1, 2, 3, 4]])).toEqual([
      [3, 4, 1, 2],
      [1, 1],
    ]);
  });

  test("of an operation that is not one of those that move elements is refused", () => {
    const window = { type: "INT64", shape: [1], data: [1] } as const;
    const model = oneOperator(
      "REDUCE_WINDOW",
      { vector, first: { ...vector, shape: [], data: [1] }, size: window, strides: window, dilations: window },
      { r: { ...vector, scale: 0.25 } },
      { reduceFunction: 4 },
    );
    expect(() => importTflite(model)).toThrow("output 0 needs scale 0.5 and zero point 1");
  });
});
