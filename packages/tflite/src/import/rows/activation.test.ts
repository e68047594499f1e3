import { describe, expect, test } from "vitest";
import { execute, importLines, oneOperator } from "../../_model.test-helper.ts";
import { importTflite } from "../import.ts";

const f = { type: "FLOAT32", shape: [1, 4] } as const;
const half = { type: "FLOAT16", shape: [1, 4] } as const;
const q8 = { type: "UINT8", shape: [1, 4], scale: 0.5, zeroPoint: 10 } as const;
const q8s = { type: "INT8", shape: [1, 4], scale: 0.5, zeroPoint: -10 } as const;

describe("rectifiers", () => {
  test.each([
    ["RELU", "RELU"],
    ["RELU_N1_TO_1", "RELU1"],
    ["RELU6", "RELU6"],
  ])("%s is %s", (name, operation) => {
    expect(importLines(oneOperator(name, { x: f }, { y: f }))).toEqual([`${operation}(in0) -> out0`]);
    expect(importLines(oneOperator(name, { x: q8 }, { y: q8 }))).toEqual([`${operation}(in0) -> out0`]);
  });

  test("another quantisation of the result goes by way of float", async () => {
    const model = oneOperator("RELU", { x: q8s }, { y: { ...q8s, scale: 0.25, zeroPoint: -128 } });
    expect(importLines(model)).toEqual([
      "DEQUANTIZE(in0) -> t0:FLOAT32[1,4]",
      "RELU(t0) -> t1:FLOAT32[1,4]",
      "QUANTIZE(t1) -> out0",
    ]);
    // Real values -5, 0, 1 and 10.
    expect(await execute(importTflite(model), [[-20, -10, -8, 10]])).toEqual([[-128, -128, -124, -88]]);
  });
});

test("a bound of RELU6 is not rounded at the scale of the input", async () => {
  const x = { type: "INT8", shape: [1, 4], scale: 4, zeroPoint: 0 } as const;
  const model = oneOperator("RELU6", { x }, { y: { ...x, scale: 0.5 } });
  // At the input's scale, 6 is between 4 and 8.
  expect(await execute(importTflite(model), [[-1, 1, 2, 100]])).toEqual([[0, 8, 12, 12]]);
});

describe("results whose quantisation the HAL fixes", () => {
  test.each([
    ["LOGISTIC", { ...q8, scale: 1 / 256, zeroPoint: 0 }, { ...q8s, scale: 1 / 256, zeroPoint: -128 }],
    ["TANH", { ...q8, scale: 1 / 128, zeroPoint: 128 }, { ...q8s, scale: 1 / 128, zeroPoint: 0 }],
    ["L2_NORMALIZATION", { ...q8, scale: 1 / 128, zeroPoint: 128 }, { ...q8s, scale: 1 / 128, zeroPoint: 0 }],
  ] as const)("%s", (name, unsigned, signed) => {
    expect(importLines(oneOperator(name, { x: f }, { y: f }))).toEqual([`${name}(in0) -> out0`]);
    expect(importLines(oneOperator(name, { x: q8 }, { y: unsigned }))).toEqual([`${name}(in0) -> out0`]);
    expect(importLines(oneOperator(name, { x: q8s }, { y: signed }))).toEqual([`${name}(in0) -> out0`]);
    const other = importLines(oneOperator(name, { x: q8 }, { y: { ...unsigned, zeroPoint: unsigned.zeroPoint + 1 } }));
    expect(other.map((line) => line.split("(")[0])).toEqual(["DEQUANTIZE", name, "QUANTIZE"]);
  });

  test("SOFTMAX", () => {
    const options = { beta: 0.5 };
    expect(importLines(oneOperator("SOFTMAX", { x: f }, { y: f }, options))).toEqual(["SOFTMAX(in0, 0.5) -> out0"]);
    expect(importLines(oneOperator("SOFTMAX", { x: half }, { y: half }, options))).toEqual([
      "SOFTMAX(in0, 0.5) -> out0",
    ]);
    const y = { ...q8s, scale: 1 / 256, zeroPoint: -128 };
    expect(importLines(oneOperator("SOFTMAX", { x: q8s }, { y }, options))).toEqual(["SOFTMAX(in0, 0.5) -> out0"]);
    expect(() => importTflite(oneOperator("SOFTMAX", { x: f }, { y: f }), { extensions: false })).toThrow(
      "beta: expected a number above 0, got 0",
    );
  });
});

test("LOG_SOFTMAX works along the last axis", () => {
  expect(importLines(oneOperator("LOG_SOFTMAX", { x: f }, { y: f }))).toEqual(["LOG_SOFTMAX(in0, 1, -1) -> out0"]);
  expect(importLines(oneOperator("LOG_SOFTMAX", { x: q8 }, { y: q8 }))).toEqual([
    "DEQUANTIZE(in0) -> t0:FLOAT32[1,4]",
    "LOG_SOFTMAX(t0, 1, -1) -> t1:FLOAT32[1,4]",
    "QUANTIZE(t1) -> out0",
  ]);
});

test("ELU has an alpha of 1", async () => {
  expect(importLines(oneOperator("ELU", { x: f }, { y: f }))).toEqual(["ELU(in0, 1) -> out0"]);
  const model = oneOperator("ELU", { x: q8s }, { y: { ...q8s, scale: 1 / 64, zeroPoint: 0 } });
  // Real values -1, 0, 0.5 and 1: exp(-1) - 1 is -40.5 steps.
  expect(await execute(importTflite(model), [[-12, -10, -9, -8]])).toEqual([[-40, 0, 32, 64]]);
});

describe("LEAKY_RELU is PRELU with a constant slope", () => {
  test("of floats", () => {
    expect(importLines(oneOperator("LEAKY_RELU", { x: f }, { y: f }, { alpha: 0.25 }))).toEqual([
      "PRELU(in0, FLOAT32[1](0.25)) -> out0",
    ]);
    expect(importLines(oneOperator("LEAKY_RELU", { x: half }, { y: half }, { alpha: 0.25 }))).toEqual([
      "PRELU(in0, FLOAT16[1](0.25)) -> out0",
    ]);
  });

  // Multipliers of 8 bits after the point are too coarse for these.
  test.each([
    [q8, 2 ** -9, "QUANT8_ASYMM[1]*0.001953125@1(2)"],
    [q8, 0, "QUANT8_ASYMM[1]*1@1(1)"],
    [q8, -(2 ** 7), "QUANT8_ASYMM[1]*128@1(0)"],
    [q8s, 2 ** 7, "QUANT8_ASYMM_SIGNED[1]*128(1)"],
    [q8s, -(2 ** -9), "QUANT8_ASYMM_SIGNED[1]*0.001953125(-1)"],
  ])("of quantised tensors a very small or great slope is exact (%#)", (x, alpha, slope) => {
    expect(importLines(oneOperator("LEAKY_RELU", { x }, { y: x }, { alpha }))).toEqual([
      `PRELU(in0, ${slope}) -> out0`,
    ]);
  });

  test.each(["INT32", "INT64"] as const)("not of %s, which has no slope", (type) => {
    const x = { type, shape: [2] };
    expect(() => importTflite(oneOperator("LEAKY_RELU", { x }, { y: x }), { extensions: false })).toThrow(
      "the HAL has no PRELU for TENSOR_INT",
    );
  });

  test("of quantised tensors it goes by way of float, with multipliers of 8 bits after the point", () => {
    const lines = importLines(oneOperator("LEAKY_RELU", { x: q8 }, { y: q8 }, { alpha: 0.1 }));
    expect(lines.map((line) => line.split("(")[0])).toEqual(["DEQUANTIZE", "PRELU", "ADD", "QUANTIZE"]);
    // 0.1 becomes 26 / 256.
    expect(lines[1]).toContain("FLOAT32[1](0.1015625)");
    const other = { ...q8, scale: 0.7 };
    const converted = importLines(oneOperator("LEAKY_RELU", { x: q8 }, { y: other }, { alpha: 0.1 }));
    expect(converted.map((line) => line.split("(")[0])).toEqual(["DEQUANTIZE", "MUL", "PRELU", "ADD", "QUANTIZE"]);
  });

  test("rounds halves of 8 bits up, on either side of the zero point, within the type", async () => {
    const [x, y] = [q8, q8].map((each) => ({ ...each, shape: [6], scale: 1, zeroPoint: 100 }));
    const model = oneOperator("LEAKY_RELU", { x: x ?? {} }, { y: y ?? {} }, { alpha: -0.5 });
    expect(await execute(importTflite(model), [[100, 99, 98, 97, 0, 255]])).toEqual([[100, 101, 101, 102, 150, 255]]);
  });

  test("computes the right result", async () => {
    const model = oneOperator("LEAKY_RELU", { x: q8 }, { y: q8 }, { alpha: 0.5 });
    expect(await execute(importTflite(model), [[10, 12, 8, 2]])).toEqual([[10, 12, 9, 6]]);
  });
});

test("L2_NORMALIZATION has no fused activation", () => {
  const model = oneOperator("L2_NORMALIZATION", { x: f }, { y: f }, { fusedActivationFunction: "RELU" });
  expect(() => importTflite(model, { extensions: false })).toThrow(
    "the HAL's operation has no fused activation, the operator has RELU",
  );
});

test("LOCAL_RESPONSE_NORMALIZATION", () => {
  const x = { type: "FLOAT32", shape: [1, 2, 2, 4] } as const;
  const options = { radius: 2, bias: 1, alpha: 0.5, beta: 0.25 };
  expect(importLines(oneOperator("LOCAL_RESPONSE_NORMALIZATION", { x }, { y: x }, options))).toEqual([
    "LOCAL_RESPONSE_NORMALIZATION(in0, 2, 1, 0.5, 0.25) -> out0",
  ]);
});
