import { describe, expect, test } from "vitest";
import { execute, importLines, ofOperators, oneOperator, problemOf } from "../_model.test-helper.ts";
import { importTflite } from "./import.ts";

const f = { type: "FLOAT32", shape: [2, 3] } as const;
const wide = { type: "INT64", shape: [2] } as const;

describe("INT64 tensors are held as TENSOR_INT32", () => {
  test("if they are inputs", async () => {
    const imported = importTflite(
      oneOperator("GATHER", { x: f, i: wide }, { y: { ...f, shape: [2, 3] } }, { axis: 0, batchDims: 0 }),
    );
    expect(imported.inputs[1]).toMatchObject({ tensorType: "INT64", type: "TENSOR_INT32" });
    expect(
      await execute(imported, [
        [1, 2, 3, 4, 5, 6],
        [1, 0],
      ]),
    ).toEqual([[4, 5, 6, 1, 2, 3]]);
  });

  test("if they are results of operators that only move them", () => {
    const model = ofOperators(
      {
        x: wide,
        a: { ...wide, shape: [2, 1] },
        y: { ...wide, shape: [4, 1] },
        m: { type: "INT32", shape: [2], data: [2, 1] },
        axis: { type: "INT32", shape: [], data: [1] },
      },
      [
        { name: "EXPAND_DIMS", inputs: ["x", "axis"], outputs: ["a"] },
        { name: "TILE", inputs: ["a", "m"], outputs: ["y"] },
      ],
      ["x"],
      ["y"],
    );
    expect(importLines(model)).toEqual(["EXPAND_DIMS(in0, 1) -> t0:INT32[2,1]", "TILE(t0, INT32[2](2,1)) -> out0"]);
  });

  test("from a CAST of integers, but not of floats", () => {
    const model = (type: "INT32" | "FLOAT32") => oneOperator("CAST", { x: { type, shape: [2] } }, { y: wide });
    expect(importLines(model("INT32"))).toEqual(["CAST(in0) -> out0"]);
    expect(problemOf(model("FLOAT32"))).toContain('"y": the HAL has no tensors of type INT64');
  });

  test("but not if they are sums, which 32 bits could not hold", () => {
    expect(problemOf(oneOperator("ADD", { a: wide, b: wide }, { y: wide }))).toContain(
      '"y": the HAL has no tensors of type INT64',
    );
  });

  test("but not if what they come from is not", () => {
    const model = ofOperators(
      { a: wide, b: wide, s: wide, m: { type: "INT32", shape: [1], data: [2] }, y: { ...wide, shape: [4] } },
      [
        { name: "ADD", inputs: ["a", "b"], outputs: ["s"] },
        { name: "TILE", inputs: ["s", "m"], outputs: ["y"] },
      ],
      ["a", "b"],
      ["y"],
    );
    expect(problemOf(model)).toContain('"s": the HAL has no tensors of type INT64');
  });

  test.each([
    [2 ** 31 - 1, "MAXIMUM(in0, INT32[2](0,2147483647)) -> out0"],
    [2 ** 31, "the HAL has 32-bit integers only, and 2147483648 does not fit"],
  ])("a constant of %d", (value, outcome) => {
    const model = oneOperator("MAXIMUM", { x: wide, c: { ...wide, data: [0, value] } }, { y: wide });
    let shown: string;
    try {
      shown = importLines(model).join();
    } catch (error) {
      shown = String(error);
    }
    expect(shown).toContain(outcome);
  });
});
