import { describe, expect, test } from "vitest";
import { importLines, oneOperator } from "../../_model.test-helper.ts";
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

  test("MEAN into another quantisation goes by way of float", () => {
    const x = { type: "INT8", shape: [2, 3], scale: 0.5 } as const;
    expect(importLines(oneOperator("MEAN", { x, axis }, { y: { ...x, shape: [2], scale: 0.25 } }))).toHaveLength(3);
  });

  test("an empty list of axes is refused", () => {
    const none = { type: "INT32", shape: [0] } as const;
    expect(() => importTflite(oneOperator("MEAN", { x: f, none }, { y: f }))).toThrow("the list of axes is empty");
  });

  test("a quantised SUM is refused", () => {
    const x = { type: "INT8", shape: [2, 3], scale: 0.5 } as const;
    expect(() => importTflite(oneOperator("SUM", { x, axis }, { y: { ...x, shape: [2] } }))).toThrow(
      "the HAL's REDUCE_SUM cannot compute it",
    );
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

  test("INT64 results are refused without the extension, naming operator and tensor", () => {
    const model = oneOperator("ARG_MAX", { x: f, axis }, { y: { type: "INT64", shape: [2] } }, { outputType: "INT64" });
    expect(() => importTflite(model)).toThrow(
      'subgraphs[0].operators[0] (ARG_MAX version 1): subgraphs[0].tensors[2] "y": the HAL has no tensors of type INT64',
    );
  });

  test("TOPK_V2", () => {
    const k = { type: "INT32", shape: [], data: [2] } as const;
    const [values, indices] = [
      { ...f, shape: [2, 2] },
      { type: "INT32", shape: [2, 2] },
    ] as const;
    expect(importLines(oneOperator("TOPK_V2", { x: f, k }, { values, indices }))).toEqual([
      "TOPK_V2(in0, 2) -> out0, out1",
    ]);
  });

  test("TOPK_V2 with values in another quantisation is refused", () => {
    const k = { type: "INT32", shape: [], data: [1] } as const;
    const x = { type: "INT8", shape: [3], scale: 0.5 } as const;
    const outputs = { values: { ...x, shape: [1], scale: 1 }, indices: { type: "INT32", shape: [1] } } as const;
    expect(() => importTflite(oneOperator("TOPK_V2", { x, k }, outputs))).toThrow(
      "another quantisation than the input",
    );
  });

  test("an output that is missing is refused", () => {
    const k = { type: "INT32", shape: [], data: [1] } as const;
    expect(() => importTflite(oneOperator("TOPK_V2", { x: f, k }, { values: f }))).toThrow(
      "output 1 (indexes) is missing; it has outputs [2]",
    );
  });
});
