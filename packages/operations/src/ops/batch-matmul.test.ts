import { describe, expect, it } from "vitest";
import {
  bool8,
  boolScalar,
  declareOutput,
  f32,
  type Given,
  i32,
  mismatchOf,
  q8,
  q8s,
  runForOne,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { batchMatmul } from "./batch-matmul.ts";

const [no, yes] = [boolScalar(false), boolScalar(true)];
const x = f32([1, 2, 3], [1, 2, 3, 4, 5, 6]);
const y = f32([1, 3, 2], [1, 0, 0, 1, 1, 1]);
const run = (...inputs: readonly Given[]) => runForOne(batchMatmul, inputs, declareOutput(inputs[0]?.type));

describe("BATCH_MATMUL", () => {
  it("multiplies, with each matrix transposed if its flag says so", () => {
    const product = [4, 5, 10, 11];
    expect(valuesOf(run(x, y, no, no))).toEqual(product);
    expect(valuesOf(run(f32([1, 3, 2], [1, 4, 2, 5, 3, 6]), y, yes, no))).toEqual(product);
    expect(valuesOf(run(x, f32([1, 2, 3], [1, 0, 1, 0, 1, 1]), no, yes))).toEqual(product);
  });

  it("multiplies each batch by its own", () => {
    const result = run(f32([2, 1, 1, 1], [2, 3]), f32([2, 1, 1, 2], [1, 2, 3, 4]), no, no);
    expect(result.dimensions).toEqual([2, 1, 1, 2]);
    expect(valuesOf(result)).toEqual([2, 4, 9, 12]);
  });

  it("wraps integers of 32 bits", () => {
    expect(valuesOf(run(i32([1, 1], [0x7fff_ffff]), i32([1, 1], [3]), no, no))).toEqual([0x7fff_fffd]);
  });

  it("rescales quantised sums, halves away from 0, within the range", () => {
    const left = q8s([1, 2], 0.5, 1, [2, 3]);
    // (1 · q + 2 · q) · 0.5 · 0.5 / 0.5
    const of = (...values: number[]) =>
      valuesOf(
        runForOne(batchMatmul, [left, q8s([2, 1], 0.5, 0, values), no, no], {
          type: "TENSOR_QUANT8_ASYMM_SIGNED",
          dimensions: [],
          scale: 0.5,
          zeroPoint: -1,
        }),
      );
    expect(of(1, 0)).toEqual([0]);
    expect(of(-1, 0)).toEqual([-2]);
    expect(of(127, 127)).toEqual([127]);
    expect(of(-128, -128)).toEqual([-128]);
  });

  it("refuses batches and depths that differ, ranks of 1 and 5, and matrices without elements", () => {
    expect(() => run(f32([2, 1, 1]), f32([1, 1, 1]), no, no)).toThrow("the batches of x have shape 2, those of y 1");
    expect(() => run(x, x, no, no)).toThrow("the matrices of x have 3 columns where those of y have 2 rows");
    expect(() => run(f32([1]), f32([1, 1]), no, no)).toThrow("x: expected rank 2 to 4, got 1");
    expect(() => run(f32([1, 1]), f32([1, 1, 1, 1, 1]), no, no)).toThrow("y: expected rank 2 to 4, got 5");
    expect(() => run(f32([1, 0]), f32([0, 1]), no, no)).toThrow("have no elements: 1x0 and 0x1");
  });

  it("takes four operands of the types of AIDL 2", () => {
    expect(versionOf(batchMatmul, [x, y, no, no])).toBe("aidl2");
    expect(mismatchOf(batchMatmul, [x, y, no])).toContain("expected 4 inputs and 1 outputs, got 3");
    expect(mismatchOf(batchMatmul, [q8([1, 1], 1, 0), q8([1, 1], 1, 0), no, no])).toContain("got TENSOR_QUANT8_ASYMM");
    expect(mismatchOf(batchMatmul, [x, i32([1, 1]), no, no])).toContain("got TENSOR_INT32");
    expect(mismatchOf(batchMatmul, [x, y, bool8([1]), no])).toContain("got TENSOR_BOOL8");
  });
});
