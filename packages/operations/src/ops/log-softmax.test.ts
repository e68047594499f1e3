import { describe, expect, it } from "vitest";
import {
  f16,
  f16Scalar,
  f32,
  f32Scalar,
  i32Scalar,
  mismatchOf,
  q8,
  runForOne,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { logSoftmax } from "./log-softmax.ts";

const last = i32Scalar(-1);

describe("LOG_SOFTMAX", () => {
  it("is beta · x less the logarithm of the sum of exponentials", () => {
    const [a, b, c] = valuesOf(runForOne(logSoftmax, [f32([1, 3], [1, 2, 4]), f32Scalar(0.5), last]));
    const logarithm = Math.log(Math.exp(0.5) + Math.exp(1) + Math.exp(2));
    expect(a).toBeCloseTo(0.5 - logarithm, 6);
    expect(b).toBeCloseTo(1 - logarithm, 6);
    expect(c).toBeCloseTo(2 - logarithm, 6);
  });

  it.each([
    [0, [0, 2, 1, 3]],
    [-2, [0, 2, 1, 3]],
    [1, [0, 1, 2, 3]],
    [-1, [0, 1, 2, 3]],
  ])("along axis %d: the exponentials of each lane add up to 1", (axis, [a, b, c, d]) => {
    const result = runForOne(logSoftmax, [f32([2, 2], [0, 3, -5, 1]), f32Scalar(1), i32Scalar(axis)]);
    const exponentials = valuesOf(result).map(Math.exp);
    expect(exponentials[a] + exponentials[b]).toBeCloseTo(1, 6);
    expect(exponentials[c] + exponentials[d]).toBeCloseTo(1, 6);
  });

  it("does not overflow", () => {
    expect(valuesOf(runForOne(logSoftmax, [f32([2], [1e30, -1e30]), f32Scalar(1), last]))).toEqual([
      0,
      Math.fround(-2e30),
    ]);
  });

  it("takes any rank, and no elements", () => {
    expect(valuesOf(runForOne(logSoftmax, [f32([1, 1, 1, 1, 1], [7]), f32Scalar(1), i32Scalar(4)]))).toEqual([0]);
    expect(runForOne(logSoftmax, [f32([2, 0, 3]), f32Scalar(1), i32Scalar(1)]).dimensions).toEqual([2, 0, 3]);
  });

  it("of float16 is rounded to float16", () => {
    const result = runForOne(logSoftmax, [f16([2], [0, 0]), f16Scalar(1), last]);
    expect(valuesOf(result)).toEqual([-0.693359375, -0.693359375]);
  });

  it.each([0, -1])("refuses beta %d", (beta) => {
    expect(() => runForOne(logSoftmax, [f32([1]), f32Scalar(beta), last])).toThrow(
      `beta: expected a number > 0, got ${beta}`,
    );
  });

  it.each([-2, 1])("refuses axis %d of rank 1", (axis) => {
    expect(() => runForOne(logSoftmax, [f32([1]), f32Scalar(1), i32Scalar(axis)])).toThrow(
      `axis ${axis} is outside [-1, 1)`,
    );
  });

  it("takes float tensors with a scalar of the same width, since 1.2", () => {
    expect(versionOf(logSoftmax, [f32([1]), f32Scalar(1), last])).toBe("1.2");
    expect(versionOf(logSoftmax, [f16([1]), f16Scalar(1), last])).toBe("1.2");
    expect(mismatchOf(logSoftmax, [f32([1]), f16Scalar(1), last])).toContain(
      "input 1 (beta): expected FLOAT32, got FLOAT16",
    );
    expect(mismatchOf(logSoftmax, [q8([1], 1, 0), f32Scalar(1), last])).toContain(
      "input 0 (input): expected TENSOR_FLOAT32, got TENSOR_QUANT8_ASYMM",
    );
    expect(mismatchOf(logSoftmax, [f32([1]), f32Scalar(1)])).toContain(
      "expected 3 inputs and 1 outputs, got 2 inputs and 1 outputs",
    );
  });
});
