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
import { logicalAnd } from "./logical-and.ts";
import { logicalOr } from "./logical-or.ts";
import { maximum } from "./maximum.ts";
import { minimum } from "./minimum.ts";

describe("MAXIMUM and MINIMUM", () => {
  it("of floats; NaN wins", () => {
    const inputs = [f32([4], [1, -2, Number.NaN, 3]), f32([4], [2, -3, 0, Number.POSITIVE_INFINITY])];
    expect(valuesOf(runForOne(maximum, inputs))).toEqual([2, -2, Number.NaN, Number.POSITIVE_INFINITY]);
    expect(valuesOf(runForOne(minimum, inputs))).toEqual([1, -3, Number.NaN, 3]);
  });

  it("of float16 and of integers, that broadcast", () => {
    const inputs = [i32([2, 1], [-(2 ** 31), 5]), i32([2], [2 ** 31 - 1, 0])];
    expect(runForOne(maximum, inputs).dimensions).toEqual([2, 2]);
    expect(valuesOf(runForOne(maximum, inputs))).toEqual([2 ** 31 - 1, 0, 2 ** 31 - 1, 5]);
    expect(valuesOf(runForOne(minimum, inputs))).toEqual([-(2 ** 31), -(2 ** 31), 5, 0]);
    expect(valuesOf(runForOne(maximum, [f16([1], [0.1]), f16([1], [0])]))).toEqual([0.0999755859375]);
  });

  it.each([
    ["unsigned", q8, "TENSOR_QUANT8_ASYMM", 0],
    ["signed", q8s, "TENSOR_QUANT8_ASYMM_SIGNED", 128],
  ] as const)("of quantised elements compare real values in the output's scale, %s", (_, build, type, shift) => {
    // -4, 0, 6 and 2, 2, 250
    const left = build([3], 2, 10 - shift, [8 - shift, 10 - shift, 13 - shift]);
    const right = build([3], 1, 5 - shift, [7 - shift, 7 - shift, 255 - shift]);
    const output = declareOutput(type, { scale: 0.5, zeroPoint: 100 - shift });
    const unshift = (operation: typeof maximum | typeof minimum) =>
      valuesOf(runForOne(operation, [left, right], output)).map((value) => value + shift);
    expect(unshift(maximum)).toEqual([104, 104, 255]);
    expect(unshift(minimum)).toEqual([92, 100, 112]);
  });

  it("work on zero-sized tensors and on high ranks", () => {
    expect(runForOne(maximum, [f32([0, 3]), f32([3])]).dimensions).toEqual([0, 3]);
    expect(runForOne(minimum, [f32([1, 1, 1, 1, 1, 2], [1, 2]), f32([1], [1])]).dimensions).toEqual([1, 1, 1, 1, 1, 2]);
  });

  it.each([
    ["MAXIMUM", maximum],
    ["MINIMUM", minimum],
  ])("%s needs 1.2, of signed elements 1.3", (_, operation) => {
    for (const operand of [f16([1]), f32([1]), i32([1]), q8([1], 1, 0)]) {
      expect(versionOf(operation, [operand, operand])).toBe("1.2");
    }
    expect(versionOf(operation, [q8s([1], 1, 0), q8s([1], 1, 0)])).toBe("1.3");
    expect(mismatchOf(operation, [bool8([1]), bool8([1])])).toContain(
      "input 0 (left): expected TENSOR_FLOAT16, got TENSOR_BOOL8",
    );
    expect(mismatchOf(operation, [f32([1]), i32([1])])).toContain(
      "input 1 (right): expected TENSOR_FLOAT32, got TENSOR_INT32",
    );
    expect(mismatchOf(operation, [f32([1])])).toContain("expected 2 inputs and 1 outputs, got 1 inputs and 1 outputs");
  });
});

describe("LOGICAL_AND and LOGICAL_OR", () => {
  const inputs = [bool8([4], [0, 0, 7, 1]), bool8([4], [0, 255, 0, 2])];

  it("take any non-zero byte for true and write 1", () => {
    expect(valuesOf(runForOne(logicalAnd, inputs))).toEqual([0, 0, 0, 1]);
    expect(valuesOf(runForOne(logicalOr, inputs))).toEqual([0, 1, 1, 1]);
  });

  it("broadcast", () => {
    const result = runForOne(logicalAnd, [bool8([2, 1], [0, 1]), bool8([2], [1, 0])]);
    expect(result.dimensions).toEqual([2, 2]);
    expect(valuesOf(result)).toEqual([0, 0, 1, 0]);
    expect(() => runForOne(logicalOr, [bool8([2]), bool8([3])])).toThrow("shapes 2 and 3 do not broadcast");
  });

  it.each([
    ["LOGICAL_AND", logicalAnd],
    ["LOGICAL_OR", logicalOr],
  ])("%s takes TENSOR_BOOL8 alone, since 1.2", (_, operation) => {
    expect(versionOf(operation, inputs)).toBe("1.2");
    expect(mismatchOf(operation, [f32([1]), f32([1])])).toContain("expected TENSOR_BOOL8, got TENSOR_FLOAT32");
  });
});
