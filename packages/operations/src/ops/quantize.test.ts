import { describe, expect, it } from "vitest";
import { declareOutput, f16, f32, i32, mismatchOf, runForOne, valuesOf, versionOf } from "./_run.test-helper.ts";
import { quantize } from "./quantize.ts";

const { POSITIVE_INFINITY: INF, NaN: NAN } = Number;

describe("QUANTIZE", () => {
  it.each([
    ["TENSOR_QUANT8_ASYMM", 100, [102, 103, 99, 100, 97, 97, 255, 0, 255, 0, 0]],
    ["TENSOR_QUANT8_ASYMM_SIGNED", -28, [-26, -25, -29, -28, -31, -31, 127, -128, 127, -128, 0]],
  ] as const)("to %s rounds halves away from zero, and saturates", (type, zeroPoint, expected) => {
    const values = [1, 1.25, -0.25, 0.125, -1.25, -1.625, 1000, -1000, INF, -INF, NAN];
    const output = declareOutput(type, { scale: 0.5, zeroPoint });
    expect(valuesOf(runForOne(quantize, [f32([11], values)], output))).toEqual(expected);
    expect(valuesOf(runForOne(quantize, [f16([11], values)], output))).toEqual(expected);
  });

  it("divides in float32, as the HAL's reference does", () => {
    // The quotient is just below 2.5 in double and 2.5 in float32.
    const output = declareOutput("TENSOR_QUANT8_ASYMM", { scale: 0.1 });
    const value = Math.fround(0.25);
    expect(value / output.scale).toBeLessThan(2.5);
    expect(valuesOf(runForOne(quantize, [f32([1], [value])], output))).toEqual([3]);
  });

  it("keeps the shape, at any rank and of no elements", () => {
    const output = declareOutput("TENSOR_QUANT8_ASYMM", { scale: 1 });
    expect(runForOne(quantize, [f32([1, 1, 1, 1, 2])], output)).toMatchObject({
      dimensions: [1, 1, 1, 1, 2],
      scale: 1,
    });
    expect(runForOne(quantize, [f32([0, 2])], output).dimensions).toEqual([0, 2]);
  });

  it("takes floats to 8 bits since 1.2, to signed ones since 1.3", () => {
    for (const input of [f16([1]), f32([1])]) {
      expect(versionOf(quantize, [input], { outputs: [declareOutput("TENSOR_QUANT8_ASYMM")] })).toBe("1.2");
      expect(versionOf(quantize, [input], { outputs: [declareOutput("TENSOR_QUANT8_ASYMM_SIGNED")] })).toBe("1.3");
      expect(mismatchOf(quantize, [input], { outputs: [declareOutput("TENSOR_QUANT8_SYMM")] })).toContain(
        "output 0 (output)",
      );
    }
    expect(mismatchOf(quantize, [i32([1])], { outputs: [declareOutput("TENSOR_QUANT8_ASYMM")] })).toContain(
      "input 0 (input)",
    );
  });
});
