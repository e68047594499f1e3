import { describe, expect, it } from "vitest";
import type { Operation } from "../define.ts";
import type { Given } from "./_run.test-helper.ts";
import {
  bool8,
  declareOutput,
  f16,
  f32,
  i32,
  mismatchOf,
  q8,
  q8s,
  runOperation,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { equal } from "./equal.ts";
import { greater } from "./greater.ts";
import { greaterEqual } from "./greater-equal.ts";
import { less } from "./less.ts";
import { lessEqual } from "./less-equal.ts";
import { notEqual } from "./not-equal.ts";

const operations = [equal, notEqual, greater, greaterEqual, less, lessEqual];
const outputs = [declareOutput("TENSOR_BOOL8")];

function compare(operation: Operation, left: Given, right: Given): number[] {
  return valuesOf(runOperation(operation, [left, right], { outputs })[0]);
}

/** Answers for less, equal and greater operands, and for NaN. */
const answers = [
  [equal, [0, 1, 0, 0]],
  [notEqual, [1, 0, 1, 1]],
  [greater, [0, 0, 1, 0]],
  [greaterEqual, [0, 1, 1, 0]],
  [less, [1, 0, 0, 0]],
  [lessEqual, [1, 1, 0, 0]],
] as const;

describe.each(answers)("$name", (operation, [whenLess, whenEqual, whenGreater, whenNaN]) => {
  it("of floats, NaN included", () => {
    const left = f32([5], [1, 2, 3, Number.NaN, -0]);
    const right = f32([5], [2, 2, 2, 2, 0]);
    expect(compare(operation, left, right)).toEqual([whenLess, whenEqual, whenGreater, whenNaN, whenEqual]);
    expect(compare(operation, f16([3], [1, 2, 3]), f16([1], [2]))).toEqual([whenLess, whenEqual, whenGreater]);
  });

  it("of integers", () => {
    const extremes = i32([3], [-(2 ** 31), 0, 2 ** 31 - 1]);
    expect(compare(operation, extremes, i32([1], [0]))).toEqual([whenLess, whenEqual, whenGreater]);
  });

  it("of booleans, of which any non-zero byte is true", () => {
    const left = bool8([4], [0, 0, 1, 255]);
    const right = bool8([4], [1, 0, 2, 0]);
    expect(compare(operation, left, right)).toEqual([whenLess, whenEqual, whenEqual, whenGreater]);
  });

  it("of quantised elements by their real values", () => {
    const left = q8([3], 0.5, 100, [101, 104, 110]); // 0.5, 2, 5
    const right = q8([1], 1, 10, [12]); // 2
    expect(compare(operation, left, right)).toEqual([whenLess, whenEqual, whenGreater]);
    const signed = q8s([3], 0.5, -28, [-27, -24, -18]);
    expect(compare(operation, signed, q8s([1], 1, -118, [-116]))).toEqual([whenLess, whenEqual, whenGreater]);
  });

  it("broadcasts", () => {
    const [result] = runOperation(operation, [f32([2, 1], [1, 2]), f32([2], [1, 2])], { outputs });
    expect(result.dimensions).toEqual([2, 2]);
    expect(valuesOf(result)).toEqual([whenEqual, whenLess, whenGreater, whenEqual]);
    expect(() => compare(operation, f32([2]), f32([3]))).toThrow("shapes 2 and 3 do not broadcast");
    expect(compare(operation, f32([0]), f32([1], [1]))).toEqual([]);
  });
});

describe("quantised comparisons", () => {
  it("are those of float32 numbers: products that round to the same are equal", () => {
    // 3 · 0.1 and 1 · 0.3 differ as doubles of the float32 scales, and are the same float32.
    const left = q8([1], 0.1, 0, [3]);
    const right = q8([1], 0.3, 0, [1]);
    expect(3 * left.scale).not.toBe(right.scale);
    expect(Math.fround(3 * left.scale)).toBe(right.scale);
    expect(compare(equal, left, right)).toEqual([1]);
    expect(compare(less, left, right)).toEqual([0]);
  });
});

describe("signatures", () => {
  it.each(operations.map((operation) => [operation.name, operation] as const))("of %s", (_, operation) => {
    for (const operand of [bool8([1]), f16([1]), f32([1]), i32([1]), q8([1], 1, 0)]) {
      expect(versionOf(operation, [operand, operand], { outputs })).toBe("1.2");
    }
    expect(versionOf(operation, [q8s([1], 1, 0), q8s([1], 1, 0)], { outputs })).toBe("1.3");
    expect(mismatchOf(operation, [f32([1]), i32([1])], { outputs })).toContain(
      "input 1 (right): expected TENSOR_FLOAT32, got TENSOR_INT32",
    );
    expect(mismatchOf(operation, [f32([1]), f32([1])])).toContain(
      "output 0 (output): expected TENSOR_BOOL8, got TENSOR_FLOAT32",
    );
  });
});
