import { describe, expect, it } from "vitest";
import {
  bool8,
  declareOutput,
  f16,
  f32,
  i32,
  mismatchOf,
  q8,
  q8s,
  runForOne,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { select } from "./select.ts";

const outputOf = (type: "TENSOR_FLOAT16" | "TENSOR_FLOAT32" | "TENSOR_INT32") => declareOutput(type);

describe("SELECT", () => {
  it("takes elements if the condition is true, any non-zero byte", () => {
    const condition = bool8([2, 2], [1, 0, 255, 0]);
    const chosen = [f32([2, 2], [1, 2, 3, 4]), f32([2, 2], [-1, -2, Number.NaN, -4])];
    expect(valuesOf(runForOne(select, [condition, ...chosen], outputOf("TENSOR_FLOAT32")))).toEqual([1, -2, 3, -4]);
    const integers = [i32([1], [-(2 ** 31)]), i32([1], [5])];
    expect(valuesOf(runForOne(select, [bool8([1], [1]), ...integers], outputOf("TENSOR_INT32")))).toEqual([-(2 ** 31)]);
  });

  it.each([
    ["TENSOR_QUANT8_ASYMM", q8, 0],
    ["TENSOR_QUANT8_ASYMM_SIGNED", q8s, 128],
  ] as const)("requantises %s to the output's scale and zero point", (type, build, shift) => {
    const whenTrue = build([3], 0.5, 10 - shift, [12 - shift, 12 - shift, 255 - shift]); // 1, 1, 122.5
    const whenFalse = build([3], 2, 0 - shift, [3 - shift, 4 - shift, 0 - shift]); // 6, 8, 0
    const output = declareOutput(type, { scale: 0.25, zeroPoint: 50 - shift });
    const result = runForOne(select, [bool8([3], [1, 0, 1]), whenTrue, whenFalse], output);
    expect(valuesOf(result)).toEqual([54 - shift, 82 - shift, 255 - shift]);
  });

  it("does not broadcast", () => {
    const output = outputOf("TENSOR_FLOAT32");
    expect(() => runForOne(select, [bool8([2, 2]), f32([2]), f32([2, 2])], output)).toThrow(
      "whenTrue: expected the condition's shape 2x2, got 2",
    );
    expect(() => runForOne(select, [bool8([2, 2]), f32([2, 2]), f32([1])], output)).toThrow(
      "whenFalse: expected the condition's shape 2x2, got 1",
    );
    expect(() => runForOne(select, [bool8([1]), f32([2, 2]), f32([2, 2])], output)).toThrow(
      "whenTrue: expected the condition's shape 1, got 2x2",
    );
  });

  it("takes any rank, and no elements", () => {
    const shape = [1, 1, 1, 1, 0];
    const result = runForOne(select, [bool8(shape), f32(shape), f32(shape)], outputOf("TENSOR_FLOAT32"));
    expect(result.dimensions).toEqual(shape);
  });

  it("needs 1.2, of signed elements 1.3", () => {
    for (const operand of [f32([1]), f16([1]), i32([1]), q8([1], 1, 0), q8s([1], 1, 0)]) {
      const outputs = [declareOutput(operand.type, { scale: operand.scale })];
      const since = operand.type === "TENSOR_QUANT8_ASYMM_SIGNED" ? "1.3" : "1.2";
      expect(versionOf(select, [bool8([1]), operand, operand], { outputs })).toBe(since);
    }
    const outputs = [outputOf("TENSOR_FLOAT32")];
    expect(mismatchOf(select, [f32([1]), f32([1]), f32([1])], { outputs })).toContain("input 0 (condition)");
    expect(mismatchOf(select, [bool8([1]), f32([1]), f16([1])], { outputs })).toContain("input 2 (whenFalse)");
    expect(mismatchOf(select, [bool8([1]), bool8([1]), bool8([1])])).toContain(
      "expected TENSOR_FLOAT16, got TENSOR_BOOL8",
    );
  });
});
