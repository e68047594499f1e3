/**
 * L2_NORMALIZATION: cases worked out by hand, random ones against the formula, and each rule.
 */
import type { OperandTypeName } from "@nnhal/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stridesOf } from "../shape.ts";
import {
  declareOutput,
  f16,
  f32,
  i32Scalar,
  mismatchOf,
  q8,
  q8s,
  runForOne,
  tensorOf,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { expectTypes } from "./_signature.test-helper.ts";
import { l2Normalization } from "./l2-normalization.ts";

const unsigned = declareOutput("TENSOR_QUANT8_ASYMM", { scale: 1 / 128, zeroPoint: 128 });
const signed = declareOutput("TENSOR_QUANT8_ASYMM_SIGNED", { scale: 1 / 128, zeroPoint: 0 });

describe("L2_NORMALIZATION", () => {
  it("divides by the length along the last axis", () => {
    const output = runForOne(l2Normalization, [f32([1, 1, 2, 2], [3, 4, -6, 8])]);
    expect(valuesOf(output)).toEqual([0.6, 0.8, -0.6, 0.8].map(Math.fround));
    const half = runForOne(l2Normalization, [f16([1, 1, 1, 2], [3, 4])]);
    expect(valuesOf(half)).toEqual([0.60009765625, 0.7998046875]);
  });

  it("divides by the length along any axis, also counted from the end", () => {
    const values = (axis: number) =>
      valuesOf(runForOne(l2Normalization, [f32([2, 2], [3, 5, 4, 12]), i32Scalar(axis)]));
    expect(values(0)).toEqual([3 / 5, 5 / 13, 4 / 5, 12 / 13].map(Math.fround));
    expect(values(-2)).toEqual(values(0));
    expect(values(-1)).toEqual(values(1));
    expect(() => values(2)).toThrow("axis 2 is outside [-2, 2)");
    expect(() => values(-3)).toThrow("axis -3 is outside [-2, 2)");
  });

  it("leaves slices of zeros zero", () => {
    expect(valuesOf(runForOne(l2Normalization, [f32([2, 2], [0, 0, 0, 2])]))).toEqual([0, 0, 0, 1]);
    expect(valuesOf(runForOne(l2Normalization, [q8([2, 2], 0.1, 7, [7, 7, 7, 8])], unsigned))).toEqual([
      128, 128, 128, 255,
    ]);
    expect(valuesOf(runForOne(l2Normalization, [q8s([2, 2], 0.1, -7, [-7, -7, -7, -8])], signed))).toEqual([
      0, 0, 0, -128,
    ]);
  });

  it("divides slices that are nearly zero by 1e-6", () => {
    expect(runForOne(l2Normalization, [f32([1], [5e-7])]).data[0]).toBeCloseTo(0.5, 6);
    expect(runForOne(l2Normalization, [f32([1], [2e-6])]).data[0]).toBeCloseTo(1, 6);
  });

  it("fixes the quantisation of the output", () => {
    const output = runForOne(
      l2Normalization,
      [q8([1, 2], 0.1, 10, [13, 14])],
      declareOutput("TENSOR_QUANT8_ASYMM", { scale: 1 }),
    );
    expect(output).toMatchObject({ scale: 1 / 128, zeroPoint: 128 });
    // 0.6 · 128 = 76.8 and 0.8 · 128 = 102.4.
    expect(valuesOf(output)).toEqual([128 + 77, 128 + 102]);
    const output2 = runForOne(l2Normalization, [q8s([1, 2], 0.1, 10, [7, 14])], signed);
    expect(output2).toMatchObject({ scale: 1 / 128, zeroPoint: 0 });
    expect(valuesOf(output2)).toEqual([-77, 102]);
  });

  it("scales every slice to length 1", () => {
    const shapes = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(shapes, fc.nat(3), fc.infiniteStream(fc.integer({ min: 1, max: 9 })), (shape, pick, stream) => {
        const axis = pick % shape.length;
        const count = shape.reduce((product, extent) => product * extent);
        const input = f32(
          shape,
          Array.from({ length: count }, () => stream.next().value),
        );
        const { data } = runForOne(l2Normalization, [input, i32Scalar(axis)]);
        const stride = stridesOf(shape)[axis];
        const squares = new Map<number, number>();
        data.forEach((value, index) => {
          const slice = index - (Math.floor(index / stride) % shape[axis]) * stride;
          squares.set(slice, (squares.get(slice) ?? 0) + value ** 2);
        });
        expect(squares.size).toBe(count / shape[axis]);
        for (const sum of squares.values()) expect(sum).toBeCloseTo(1, 5);
      }),
    );
  });

  it("takes the HAL's types, each from its version on", () => {
    const versions = {
      TENSOR_FLOAT32: "1.0",
      TENSOR_FLOAT16: "1.2",
      TENSOR_QUANT8_ASYMM: "1.2",
      TENSOR_QUANT8_ASYMM_SIGNED: "1.3",
    } as const;
    const like = (type: OperandTypeName) => [tensorOf(type, [1, 1, 1, 1])];
    expectTypes(l2Normalization, versions, like, like);
  });

  it("needs HAL 1.2 for an axis, and for ranks other than 4", () => {
    expect(versionOf(l2Normalization, [f32([1, 1, 1, 1])])).toBe("1.0");
    expect(versionOf(l2Normalization, [f32([1, 1, 1, 1]), i32Scalar(3)])).toBe("1.2");
    expect(versionOf(l2Normalization, [f32([1, 1, 1])])).toBe("1.2");
    expect(mismatchOf(l2Normalization, [f32([1]), i32Scalar(0), i32Scalar(0)])).toContain(
      "expected 1 to 2 inputs and 1 outputs, got 3 inputs and 1 outputs",
    );
    expect(() => runForOne(l2Normalization, [f32([1, 1, 1, 1, 1])])).toThrow("input: expected rank 1 to 4, got 5");
  });

  it("computes nothing of nothing", () => {
    for (const shape of [[0], [2, 0], [0, 2], [2, 0, 3]]) {
      expect(runForOne(l2Normalization, [f32(shape), i32Scalar(0)]).dimensions).toEqual(shape);
    }
  });
});
