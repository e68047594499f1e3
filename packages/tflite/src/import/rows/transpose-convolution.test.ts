import { describe, expect, test } from "vitest";
import { execute, importLines, oneOperator } from "../../_model.test-helper.ts";
import { importTflite } from "../import.ts";

const image = { type: "FLOAT32", shape: [1, 2, 2, 1] } as const;
const bias = { type: "FLOAT32", shape: [1], data: [0.5] } as const;
const pixel = { type: "FLOAT32", shape: [1, 1, 1, 1] } as const;

describe("TRANSPOSE_CONV", () => {
  const shape = { type: "INT32", shape: [4], data: [1, 2, 2, 1] } as const;
  const w = { type: "FLOAT32", shape: [1, 2, 2, 1], data: [1, 2, 3, 4] } as const;
  const options = { padding: "VALID", strideW: 2, strideH: 2 };

  test("orders the operands as the HAL does", async () => {
    const model = oneOperator("TRANSPOSE_CONV", { shape, w, x: pixel }, { y: image }, options);
    expect(importLines(model)).toEqual([
      "TRANSPOSE_CONV_2D(in0, FLOAT32[1,2,2,1](1,2,3,4), FLOAT32[1](0), INT32[4](1,2,2,1), 2, 2, 2, 0, 0) -> out0",
    ]);
    expect(await execute(importTflite(model), [[10]])).toEqual([[10, 20, 30, 40]]);
  });

  test("float input with a quantised filter: the filter is widened", () => {
    const q = { type: "INT8", shape: [1, 2, 2, 1], data: [1, 2, 3, 4], scale: 0.5 } as const;
    const model = oneOperator("TRANSPOSE_CONV", { shape, q, x: pixel }, { y: image }, options);
    expect(importLines(model).map((line) => line.split("(")[0])).toEqual(["DEQUANTIZE", "TRANSPOSE_CONV_2D"]);
  });

  test("has a bias as its fourth input, and a fused activation", () => {
    const model = oneOperator(
      "TRANSPOSE_CONV",
      { shape, w, x: pixel, bias },
      { y: image },
      {
        ...options,
        fusedActivationFunction: "RELU",
      },
    );
    expect(importLines(model)[0]).toContain("FLOAT32[1](0.5), INT32[4](1,2,2,1), 2, 2, 2, 1, 0)");
  });

  test("a computed shape is replaced by the result's own", () => {
    const model = oneOperator(
      "TRANSPOSE_CONV",
      { shape: { type: "INT32", shape: [4] }, w, x: pixel },
      { y: image },
      options,
    );
    expect(importLines(model)[0]).toContain("INT32[4](1,2,2,1)");
  });
});
