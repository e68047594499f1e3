import { describe, expect, it } from "vitest";
import { f16, f16Scalar, f32, f32Scalar, mismatchOf, q8, runForOne, valuesOf, versionOf } from "./_run.test-helper.ts";
import { elu } from "./elu.ts";

describe("ELU", () => {
  it("is x above 0 and alpha · (exp(x) - 1) below", () => {
    const values = [-1000, -1, -1e-7, 0, 0.5, 3].map(Math.fround);
    const result = valuesOf(runForOne(elu, [f32([6], values), f32Scalar(2)]));
    expect(result).toEqual(values.map((x) => Math.fround(x > 0 ? x : 2 * Math.expm1(x))));
  });

  it("follows its formula for a negative alpha: both terms count above 0", () => {
    const [above, below] = valuesOf(runForOne(elu, [f32([2], [1, -1]), f32Scalar(-1)]));
    expect(above).toBe(Math.fround(1 - Math.expm1(1)));
    expect(below).toBe(0);
  });

  it("keeps NaN, the shape, and no elements", () => {
    expect(valuesOf(runForOne(elu, [f32([1], [Number.NaN]), f32Scalar(1)]))).toEqual([Number.NaN]);
    expect(runForOne(elu, [f32([1, 2, 1, 1, 1]), f32Scalar(1)]).dimensions).toEqual([1, 2, 1, 1, 1]);
    expect(runForOne(elu, [f32([0, 2]), f32Scalar(1)]).dimensions).toEqual([0, 2]);
  });

  it("takes float tensors with a scalar of the same width, since 1.3", () => {
    expect(versionOf(elu, [f32([1]), f32Scalar(1)])).toBe("1.3");
    expect(versionOf(elu, [f16([1]), f16Scalar(1)])).toBe("1.3");
    expect(valuesOf(runForOne(elu, [f16([1], [-1]), f16Scalar(1)]))).toEqual([-0.63232421875]);
    expect(mismatchOf(elu, [f16([1]), f32Scalar(1)])).toContain("expected FLOAT16, got FLOAT32");
    expect(mismatchOf(elu, [q8([1], 1, 0), f32Scalar(1)])).toContain(
      "input 0 (input): expected TENSOR_FLOAT32, got TENSOR_QUANT8_ASYMM",
    );
    expect(mismatchOf(elu, [f32([1])])).toContain("expected 2 inputs and 1 outputs, got 1 inputs and 1 outputs");
  });
});
