import { describe, expect, it } from "vitest";
import {
  bool8,
  checkOf,
  declareOutput,
  f16,
  f32,
  type Given,
  i32,
  mismatchOf,
  q8,
  q8PerChannel,
  q8Symm,
  q8s,
  q16Asymm,
  q16Symm,
  runForOne,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { cast } from "./cast.ts";

const { POSITIVE_INFINITY: INF, NEGATIVE_INFINITY: MINUS_INF, NaN: NAN } = Number;
const floats = f32([9], [1.9, -1.9, 255.5, 256, -0.5, 3e9, -3e9, NAN, INF]);

describe("CAST", () => {
  it.each([
    ["TENSOR_INT32", [1, -1, 255, 256, 0, 2 ** 31 - 1, -(2 ** 31), 0, 2 ** 31 - 1]],
    ["TENSOR_QUANT8_ASYMM", [1, 0, 255, 255, 0, 255, 0, 0, 255]],
    ["TENSOR_FLOAT32", [Math.fround(1.9), Math.fround(-1.9), 255.5, 256, -0.5, 3e9, -3e9, NAN, INF]],
    ["TENSOR_FLOAT16", [1.900390625, -1.900390625, 255.5, 256, -0.5, INF, MINUS_INF, NAN, INF]],
  ] as const)("of floats to %s", (type, expected) => {
    expect(valuesOf(runForOne(cast, [floats], declareOutput(type)))).toEqual(expected);
  });

  it.each([
    ["TENSOR_FLOAT32", [2 ** 24, -5, 300, -(2 ** 31)]],
    ["TENSOR_FLOAT16", [INF, -5, 300, MINUS_INF]],
    ["TENSOR_QUANT8_ASYMM", [255, 0, 255, 0]],
    ["TENSOR_INT32", [2 ** 24 + 1, -5, 300, -(2 ** 31)]],
  ] as const)("of integers to %s", (type, expected) => {
    const integers = i32([4], [2 ** 24 + 1, -5, 300, -(2 ** 31)]);
    expect(valuesOf(runForOne(cast, [integers], declareOutput(type)))).toEqual(expected);
  });

  it("takes quantised elements as the integers that they are stored as", () => {
    const elements = q8([3], 0.5, 7, [0, 7, 255]);
    for (const type of ["TENSOR_FLOAT32", "TENSOR_FLOAT16", "TENSOR_INT32", "TENSOR_QUANT8_ASYMM"] as const) {
      expect(valuesOf(runForOne(cast, [elements], declareOutput(type, { scale: 9, zeroPoint: 1 })))).toEqual([
        0, 7, 255,
      ]);
    }
  });

  it.each([
    ["TENSOR_BOOL8", bool8([3], [0, 1, 1])],
    ["TENSOR_QUANT16_ASYMM", q16Asymm([3], 0.5, 7, [0, 7, 65535])],
    ["TENSOR_QUANT16_SYMM", q16Symm([3], 0.5, [-32768, 0, 32767])],
    ["TENSOR_QUANT8_ASYMM_SIGNED", q8s([3], 0.5, 7, [-128, 0, 127])],
    ["TENSOR_QUANT8_SYMM", q8Symm([3], 0.5, [-128, 0, 127])],
  ] satisfies [string, Given][])("copies %s, to its own type alone and since 1.3", (_, operand) => {
    expect(valuesOf(runForOne(cast, [operand]))).toEqual(valuesOf(operand));
    expect(versionOf(cast, [operand])).toBe("1.3");
    expect(mismatchOf(cast, [operand], { outputs: [declareOutput("TENSOR_FLOAT32")] })).toContain(operand.type);
  });

  it("converts among float16, float32, int32 and quant8, since 1.2", () => {
    const operands = [f16([1]), f32([1]), i32([1]), q8([1], 1, 0)];
    for (const from of operands) {
      for (const to of operands) expect(versionOf(cast, [from], { outputs: [declareOutput(to.type)] })).toBe("1.2");
    }
    expect(mismatchOf(cast, [q8PerChannel([1], [1], 0)])).toContain("TENSOR_QUANT8_SYMM_PER_CHANNEL");
  });

  it("needs the output's shape to be the input's if both are known", () => {
    const declare = (dimensions: readonly number[]) => ({ outputs: [declareOutput("TENSOR_INT32", { dimensions })] });
    expect(checkOf(cast, [f32([2, 3])], declare([2, 3]))).toBeUndefined();
    expect(checkOf(cast, [f32([2, 3])], declare([0, 3]))).toBeUndefined();
    expect(checkOf(cast, [f32([2, 3])], declare([]))).toBeUndefined();
    expect(checkOf(cast, [f32([2, 3])], declare([100]))).toBe("the output: expected the input's shape 2x3, got 100");
    expect(checkOf(cast, [f32([2, 3])], declare([3, 2]))).toBe("the output: expected the input's shape 2x3, got 3x2");
  });

  it("works on no elements", () => {
    expect(runForOne(cast, [f32([0, 2])], declareOutput("TENSOR_INT32")).dimensions).toEqual([0, 2]);
  });
});
