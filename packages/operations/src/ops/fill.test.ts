/**
 * FILL: the shape comes from the data.
 */
import { describe, expect, it } from "vitest";
import {
  declareOutput,
  f16Scalar,
  f32Scalar,
  type Given,
  i32,
  i32Scalar,
  mismatchOf,
  runForOne,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { fill } from "./fill.ts";

const float = declareOutput("TENSOR_FLOAT32");
const half = declareOutput("TENSOR_FLOAT16");
const integer = declareOutput("TENSOR_INT32");
const vector = (...values: number[]) => i32([values.length], values);

describe("FILL", () => {
  it("sets every element to the value", () => {
    const output = runForOne(fill, [vector(2, 3), f32Scalar(1.5)], float);
    expect(output.dimensions).toEqual([2, 3]);
    expect(valuesOf(output)).toEqual([1.5, 1.5, 1.5, 1.5, 1.5, 1.5]);
    expect(valuesOf(runForOne(fill, [vector(2), f16Scalar(-0.5)], half))).toEqual([-0.5, -0.5]);
    expect(valuesOf(runForOne(fill, [vector(1), i32Scalar(-7)], integer))).toEqual([-7]);
  });

  it("makes tensors of no elements", () => {
    expect(runForOne(fill, [vector(2, 0), i32Scalar(1)], integer).dimensions).toEqual([2, 0]);
  });

  it("refuses extents below 0, no extents, and a list of rank 2", () => {
    const run = (dimensions: Given) => () => runForOne(fill, [dimensions, i32Scalar(1)], integer);
    expect(run(vector(2, -1))).toThrow("the extent of axis 1 is -1, less than 0");
    expect(run(vector())).toThrow("expected at least 1 dimension, got 0");
    expect(run(i32([1, 1], [1]))).toThrow("dimensions: expected rank 1, got 2");
  });

  it("takes a value of the output's type, from 1.3", () => {
    const values: readonly Given[] = [f32Scalar(1), f16Scalar(1), i32Scalar(1)];
    [float, half, integer].forEach((output, row) => {
      values.forEach((value, column) => {
        const inputs = [vector(1), value];
        if (row === column) expect(versionOf(fill, inputs, { outputs: [output] })).toBe("1.3");
        else expect(mismatchOf(fill, inputs, { outputs: [output] })).toContain("expected");
      });
    });
    const quantised = { outputs: [declareOutput("TENSOR_QUANT8_ASYMM", { scale: 1 })] };
    expect(mismatchOf(fill, [vector(1), i32Scalar(1)], quantised)).toContain(
      "output 0 (output): expected TENSOR_INT32, got TENSOR_QUANT8_ASYMM",
    );
  });
});
