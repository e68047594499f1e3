import { describe, expect, test } from "vitest";
import { changeModel, execute, firstOperator, importLines, oneOperator } from "../../_model.test-helper.ts";
import { importTflite } from "../import.ts";

describe("FULLY_CONNECTED", () => {
  const x = { type: "FLOAT32", shape: [2, 3] } as const;
  const w = { type: "FLOAT32", shape: [2, 3], data: [1, 2, 3, 4, 5, 6] } as const;
  const b = { type: "FLOAT32", shape: [2], data: [0.5, 0.25] } as const;
  const y = { type: "FLOAT32", shape: [2, 2] } as const;
  const weights = "FLOAT32[2,3](1,2,3,4,5,6)";

  test("with and without a bias", () => {
    expect(
      importLines(oneOperator("FULLY_CONNECTED", { x, w, b }, { y }, { fusedActivationFunction: "RELU" })),
    ).toEqual([`FULLY_CONNECTED(in0, ${weights}, FLOAT32[2](0.5,0.25), 1) -> out0`]);
    expect(importLines(oneOperator("FULLY_CONNECTED", { x, w, "": {} }, { y }))).toEqual([
      `FULLY_CONNECTED(in0, ${weights}, FLOAT32[2](0,0), 0) -> out0`,
    ]);
  });

  test("a result of more than two dimensions is reshaped", async () => {
    const model = oneOperator(
      "FULLY_CONNECTED",
      { x: { ...x, shape: [1, 2, 3] }, w },
      { y: { ...y, shape: [1, 2, 2] } },
      { keepNumDims: true },
    );
    expect(importLines(model)).toEqual([
      `FULLY_CONNECTED(in0, ${weights}, FLOAT32[2](0,0), 0) -> t0:FLOAT32[2,2]`,
      "RESHAPE(t0, INT32[3](1,2,2)) -> out0",
    ]);
    expect(await execute(importTflite(model), [[1, 0, 0, 0, 1, 1]])).toEqual([[1, 4, 5, 11]]);
  });

  test("an input of one dimension is reshaped", () => {
    const model = oneOperator("FULLY_CONNECTED", { x: { ...x, shape: [3] }, w }, { y: { ...y, shape: [1, 2] } });
    expect(importLines(model)).toEqual([
      "RESHAPE(in0, INT32[2](-1,3)) -> t0:FLOAT32[1,3]",
      `FULLY_CONNECTED(t0, ${weights}, FLOAT32[2](0,0), 0) -> out0`,
    ]);
  });

  test("shuffled weights are refused", () => {
    const model = oneOperator("FULLY_CONNECTED", { x, w }, { y }, { weightsFormat: "SHUFFLED4x16INT8" });
    expect(() => importTflite(model, { extensions: false })).toThrow(
      "weights in format SHUFFLED4x16INT8 are not supported",
    );
  });

  test("weights with a scale per channel make it a 1x1 convolution", async () => {
    const qx = { type: "INT8", shape: [2, 2], scale: 1, zeroPoint: 0 } as const;
    const qw = {
      type: "INT8",
      shape: [3, 2],
      data: [1, 2, 3, 4, 5, 6],
      scale: [1, 0.5, 0.25],
      zeroPoint: [0, 0, 0],
    } as const;
    const qb = { type: "INT32", shape: [3], data: [10, 20, 42] } as const;
    const qy = { ...qx, shape: [2, 3] };
    const model = oneOperator(
      "FULLY_CONNECTED",
      { x: qx, w: qw, b: qb },
      { y: qy },
      { fusedActivationFunction: "RELU" },
    );
    expect(importLines(model)).toEqual([
      "RESHAPE(in0, INT32[4](-1,1,1,2)) -> t0:QUANT8_ASYMM_SIGNED[2,1,1,2]*1",
      "CONV_2D(t0, QUANT8_SYMM_PER_CHANNEL[3,1,1,2]*{1,0.5,0.25}d0(1,2,3,4,5,6), INT32[3](10,20,42), 2, 1, 1, 1) -> t1:QUANT8_ASYMM_SIGNED[2,1,1,3]*1",
      "RESHAPE(t1, INT32[2](-1,3)) -> out0",
    ]);
    expect(await execute(importTflite(model), [[2, 4, -10, -10]])).toEqual([[20, 21, 19, 0, 0, 0]]);
  });

  test("float input with quantised weights: a hybrid layer, or widened weights", () => {
    const hybrid = { type: "INT8", shape: [2, 3], data: [1, 2, 3, 4, 5, 6], scale: 0.5 } as const;
    const options = { asymmetricQuantizeInputs: true };
    const model = oneOperator("FULLY_CONNECTED", { x, w: hybrid, b }, { y }, options);
    expect(importLines(model)).toEqual([
      "nnhal.tflite FULLY_CONNECTED(in0, QUANT8_ASYMM_SIGNED[2,3]*0.5(1,2,3,4,5,6), FLOAT32[2](0.5,0.25), 0, 0, 1) -> out0",
    ]);
    expect(importLines(oneOperator("FULLY_CONNECTED", { x, w: hybrid }, { y }, { keepNumDims: true }))).toEqual([
      "nnhal.tflite FULLY_CONNECTED(in0, QUANT8_ASYMM_SIGNED[2,3]*0.5(1,2,3,4,5,6), no FLOAT32[0], 0, 1, 0) -> out0",
    ]);
    expect(importLines(model, { hybrid: "widened" })).toEqual([
      "DEQUANTIZE(QUANT8_ASYMM_SIGNED[2,3]*0.5(1,2,3,4,5,6)) -> t0:FLOAT32[2,3]",
      "FULLY_CONNECTED(in0, t0, FLOAT32[2](0.5,0.25), 0) -> out0",
    ]);
  });

  test("FLOAT16 weights behind a DEQUANTIZE", () => {
    const half = { type: "FLOAT16", shape: [2, 3], data: [0x3c00, 0, 0, 0, 0x4000, 0] } as const;
    const model = oneOperator("FULLY_CONNECTED", { x, w: { type: "FLOAT32", shape: [2, 3] }, half }, { y });
    const dequantize = { name: "DEQUANTIZE", version: 2, inputs: [2], outputs: [1], options: {} };
    const layer = { ...firstOperator(model), inputs: [0, 1] };
    const wired = changeModel(model, () => ({ operators: [dequantize, layer], inputs: [0] }));
    expect(importLines(wired)).toEqual(["FULLY_CONNECTED(in0, FLOAT32[2,3](1,0,0,0,2,0), FLOAT32[2](0,0), 0) -> out0"]);
  });
});
