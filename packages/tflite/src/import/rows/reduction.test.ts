import { tfliteTypes } from "@nnhal/extension-tflite";
import { describe, expect, test } from "vitest";
import { execute, importLines, oneOperator } from "../../_model.test-helper.ts";
import { importTflite } from "../import.ts";

const f = { type: "FLOAT32", shape: [2, 3] } as const;
const reduced = { type: "FLOAT32", shape: [2] } as const;
const kept = { type: "FLOAT32", shape: [2, 1] } as const;
const axis = { type: "INT32", shape: [], data: [1] } as const;
const bool = { type: "BOOL", shape: [2, 3] } as const;

describe("reductions", () => {
  test("MEAN has an integer flag", () => {
    const model = (keepDims: boolean) =>
      oneOperator("MEAN", { x: f, axis }, { y: keepDims ? kept : reduced }, { keepDims });
    expect(importLines(model(true))).toEqual(["MEAN(in0, INT32[1](1), 1) -> out0"]);
    expect(importTflite(model(true)).model.main.operands.some(({ type }) => type === 1)).toBe(true);
    expect(importLines(model(false))).toEqual(["MEAN(in0, INT32[1](1), 0) -> out0"]);
  });

  test.each([
    ["SUM", "REDUCE_SUM", f, kept],
    ["REDUCE_PROD", "REDUCE_PROD", f, kept],
    ["REDUCE_MAX", "REDUCE_MAX", f, kept],
    ["REDUCE_MIN", "REDUCE_MIN", f, kept],
    ["REDUCE_ANY", "REDUCE_ANY", bool, { ...bool, shape: [2, 1] }],
    ["REDUCE_ALL", "REDUCE_ALL", bool, { ...bool, shape: [2, 1] }],
  ] as const)("%s is %s, with a boolean flag", (name, operation, x, y) => {
    const model = oneOperator(name, { x, axis }, { y }, { keepDims: true });
    expect(importLines(model)).toEqual([`${operation}(in0, INT32[1](1), 1) -> out0`]);
    expect(importTflite(model).model.main.operands.some(({ type }) => type === 6)).toBe(true);
  });

  test("MEAN into another quantisation is rounded once, at the scale of the result", async () => {
    const x = { type: "INT8", shape: [2, 3], scale: 0.5 } as const;
    const model = oneOperator("MEAN", { x, axis }, { y: { ...x, shape: [2], scale: 0.25, zeroPoint: -3 } });
    expect(importLines(model)).toEqual([
      "DEQUANTIZE(in0) -> t0:FLOAT32[2,3]",
      "MEAN(t0, INT32[1](1), 0) -> t1:FLOAT32[2]",
      "QUANTIZE(t1) -> out0",
    ]);
    // Means of 0.333 and 0.666 at the scale of the input, which is twice that of the result: 0.667 and 1.333 steps.
    expect(await execute(importTflite(model), [[0, 0, 1, 1, 1, 0]])).toEqual([[-2, -2]]);
  });

  test.each([
    ["MEAN", "MEAN"],
    ["REDUCE_MAX", "REDUCE_MAX"],
  ])("%s of 8-bit tensors with one quantisation is one operation", (name, operation) => {
    const x = { type: "INT8", shape: [2, 3], scale: 0.5 } as const;
    expect(importLines(oneOperator(name, { x, axis }, { y: { ...x, shape: [2] } }))).toEqual([
      expect.stringMatching(`^${operation}\\(in0, `),
    ]);
  });

  test("an empty list of axes is refused", () => {
    const none = { type: "INT32", shape: [0] } as const;
    expect(() => importTflite(oneOperator("MEAN", { x: f, none }, { y: f }), { extensions: false })).toThrow(
      "is a constant without elements (INT32[0])",
    );
  });

  test.each([
    ["SUM", [-128, 127, 100, 1, 2, 3], [99 - 3, 6 - 3]],
    ["REDUCE_PROD", [2, 4, 1, -4, 6, 2], [2 - 3, -12 - 3]],
  ])("%s of 8-bit tensors is computed in float", async (name, given, wanted) => {
    const x = { type: "INT8", shape: [2, 3], scale: 0.5 } as const;
    const model = oneOperator(name, { x, axis }, { y: { ...x, shape: [2], zeroPoint: -3 } });
    expect(importLines(model).map((line) => line.split("(")[0])).toEqual([
      "DEQUANTIZE",
      expect.stringMatching(/^REDUCE_/),
      "QUANTIZE",
    ]);
    expect(await execute(importTflite(model), [given])).toEqual([wanted]);
  });

  test("a SUM of INT16 is refused", () => {
    const x = { type: "INT16", shape: [2, 3], scale: 0.5 } as const;
    expect(() =>
      importTflite(oneOperator("SUM", { x, axis }, { y: { ...x, shape: [2] } }), { extensions: false }),
    ).toThrow("the HAL's REDUCE_SUM cannot compute it");
  });
});

describe("searches", () => {
  test.each([
    ["ARG_MAX", "ARGMAX"],
    ["ARG_MIN", "ARGMIN"],
  ])("%s is %s", (name, operation) => {
    const last = { type: "INT32", shape: [1], data: [-1] } as const;
    const y = { type: "INT32", shape: [2] } as const;
    expect(importLines(oneOperator(name, { x: f, last }, { y }))).toEqual([`${operation}(in0, 1) -> out0`]);
  });

  test("INT64 results are held as INT32 without the extension", async () => {
    const y = { type: "INT64", shape: [2] } as const;
    const imported = importTflite(oneOperator("ARG_MAX", { x: f, axis }, { y }, { outputType: "INT64" }), {
      extensions: false,
    });
    expect(imported.outputs).toMatchObject([{ tensorType: "INT64", type: "TENSOR_INT32", shape: [2] }]);
    expect(await execute(imported, [[1, 5, 5, 9, -1, 3]])).toEqual([[1, 0]]);
  });

  test("INT64 results are INT64 with the extension", async () => {
    const y = { type: "INT64", shape: [2] } as const;
    const imported = importTflite(oneOperator("ARG_MAX", { x: f, axis }, { y }, { outputType: "INT64" }));
    expect(imported.outputs).toMatchObject([{ tensorType: "INT64", type: tfliteTypes.TENSOR_INT64, shape: [2] }]);
  });

  test("TOPK_V2", () => {
    const k = { type: "INT32", shape: [], data: [2] } as const;
    const [values, indices] = [
      { ...f, shape: [2, 2] },
      { type: "INT32", shape: [2, 2] },
    ] as const;
    const model = oneOperator("TOPK_V2", { x: f, k }, { values, indices });
    expect(importLines(model, { extensions: false })).toEqual(["TOPK_V2(in0, 2) -> out0, out1"]);
    // The smaller index of equal values comes first, which only the extension does.
    expect(importLines(model)).toEqual(["nnhal.tflite TOPK_V2(in0, INT32[1](2)) -> out0, out1"]);
  });

  test("TOPK_V2 with values in another quantisation is refused", () => {
    const k = { type: "INT32", shape: [], data: [1] } as const;
    const x = { type: "INT8", shape: [3], scale: 0.5 } as const;
    const outputs = { values: { ...x, shape: [1], scale: 1 }, indices: { type: "INT32", shape: [1] } } as const;
    expect(() => importTflite(oneOperator("TOPK_V2", { x, k }, outputs), { extensions: false })).toThrow(
      "another quantisation than the input",
    );
  });

  test("an output that is missing is refused", () => {
    const k = { type: "INT32", shape: [], data: [1] } as const;
    expect(() => importTflite(oneOperator("TOPK_V2", { x: f, k }, { values: f }), { extensions: false })).toThrow(
      "output 1 (indexes) is missing; it has outputs [2]",
    );
  });
});
