import { describe, expect, it } from "vitest";
import { f16, f32, i32, mismatchOf, runForOne, valuesOf, versionOf } from "./_run.test-helper.ts";
import { pow } from "./pow.ts";

const { POSITIVE_INFINITY: INF, NaN: NAN } = Number;

describe("POW", () => {
  it("is the power, rounded once to float32", () => {
    const bases = [2, 2, -2, 0.5, 10, 3];
    const exponents = [10, -1, 3, 2, 0, 0.5];
    const result = runForOne(pow, [f32([6], bases), f32([6], exponents)]);
    expect(valuesOf(result)).toEqual([1024, 0.5, -8, 0.25, 1, Math.fround(Math.sqrt(3))]);
  });

  it("follows IEEE 754 at the edges", () => {
    const bases = [0, 0, -8, 1, 1, -1, -1, NAN, NAN, INF, 2];
    const exponents = [0, -1, 1 / 3, NAN, INF, INF, -INF, 0, 1, -1, 200];
    const expected = [1, INF, NAN, 1, 1, 1, 1, 1, NAN, 0, INF];
    expect(valuesOf(runForOne(pow, [f32([11], bases), f32([11], exponents)]))).toEqual(expected);
  });

  it("broadcasts either operand", () => {
    const result = runForOne(pow, [f32([2, 1], [2, 3]), f32([3], [0, 1, 2])]);
    expect(result.dimensions).toEqual([2, 3]);
    expect(valuesOf(result)).toEqual([1, 2, 4, 1, 3, 9]);
    expect(() => runForOne(pow, [f32([2]), f32([3])])).toThrow("shapes 2 and 3 do not broadcast");
  });

  it("rounds float16 results to float16", () => {
    expect(valuesOf(runForOne(pow, [f16([2], [10, 300]), f16([1], [-1])]))).toEqual([
      0.0999755859375, 0.00333404541015625,
    ]);
    expect(valuesOf(runForOne(pow, [f16([1], [300]), f16([1], [2])]))).toEqual([INF]);
  });

  it("takes float types, since 1.2", () => {
    expect(versionOf(pow, [f32([1]), f32([1])])).toBe("1.2");
    expect(versionOf(pow, [f16([1]), f16([1])])).toBe("1.2");
    expect(mismatchOf(pow, [i32([1]), i32([1])])).toContain(
      "input 0 (base): expected TENSOR_FLOAT16, got TENSOR_INT32",
    );
    expect(mismatchOf(pow, [f32([1]), f16([1])])).toContain(
      "input 1 (exponent): expected TENSOR_FLOAT32, got TENSOR_FLOAT16",
    );
  });
});
