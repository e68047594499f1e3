/**
 * RESHAPE, SQUEEZE and EXPAND_DIMS: the same elements under another shape.
 */
import { describe, expect, it } from "vitest";
import { OperationError } from "../fail.ts";
import {
  f16,
  f32,
  giveOmitted,
  i32,
  i32Scalar,
  mismatchOf,
  q8,
  q8s,
  runForOne,
  tensorOf,
  valuesOf,
} from "./_run.test-helper.ts";
import { expectTypes, floatAndQuant8Versions, floatIntegerAndQuant8Versions } from "./_signature.test-helper.ts";
import { expandDims } from "./expand-dims.ts";
import { reshape } from "./reshape.ts";
import { squeeze } from "./squeeze.ts";

const declaredLike = (type: Parameters<typeof tensorOf>[0]) => [tensorOf(type, [1])];

describe("RESHAPE", () => {
  const input = f32([2, 3], [1, 2, 3, 4, 5, 6]);
  const shaped = (...shape: number[]) => runForOne(reshape, [input, i32([shape.length], shape)]);

  it("keeps the elements and their order", () => {
    const output = shaped(3, 1, 2);
    expect(output.dimensions).toEqual([3, 1, 2]);
    expect(valuesOf(output)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("computes the extent of -1 at any place", () => {
    expect(shaped(-1).dimensions).toEqual([6]);
    expect(shaped(-1, 2).dimensions).toEqual([3, 2]);
    expect(shaped(6, 1, -1).dimensions).toEqual([6, 1, 1]);
  });

  it("keeps scale and zero point", () => {
    for (const build of [q8, q8s]) {
      const output = runForOne(reshape, [build([4], 0.25, 7, [1, 2, 3, 4]), i32([2], [2, 2])]);
      expect(output).toMatchObject({ dimensions: [2, 2], scale: 0.25, zeroPoint: 7 });
      expect(valuesOf(output)).toEqual([1, 2, 3, 4]);
    }
  });

  it("reshapes float16 and zero-sized tensors", () => {
    expect(valuesOf(runForOne(reshape, [f16([2], [1.5, -2]), i32([2], [1, 2])]))).toEqual([1.5, -2]);
    expect(runForOne(reshape, [f32([0, 3]), i32([2], [5, 0])]).dimensions).toEqual([5, 0]);
    expect(runForOne(reshape, [f32([0, 3]), i32([2], [-1, 4])]).dimensions).toEqual([0, 4]);
  });

  it.each([
    [[4], "shape 4 does not hold the 6 elements of shape 2x3"],
    [[7], "shape 7 does not hold the 6 elements"],
    [[-1, 4], "shape 1x4 does not hold the 6 elements"],
    [[-1, 0], "shape -1x0 does not hold the 6 elements"],
    [[-1, -1], "axis 1 of shape -1x-1: expected an extent, or one -1, got -1"],
    [[-2, 3], "shape -2x3: expected an extent, or one -1, got -2"],
    [[], "the shape: expected at least 1 element, got 0"],
  ])("refuses the shape %j", (shape, message) => {
    expect(() => shaped(...shape)).toThrow(OperationError);
    expect(() => shaped(...shape)).toThrow(message);
  });

  it("refuses an input of rank 5 and a shape of rank 2", () => {
    expect(runForOne(reshape, [f32([1, 1, 1, 1], [9]), i32([1], [1])]).dimensions).toEqual([1]);
    expect(() => runForOne(reshape, [f32([1, 1, 1, 1, 1], [9]), i32([1], [1])])).toThrow(
      "input: expected rank 1 to 4, got 5",
    );
    expect(() => runForOne(reshape, [input, i32([1, 1], [6])])).toThrow("shape: expected rank 1, got 2");
  });

  it("takes the HAL's types and counts", () => {
    const versions = { ...floatAndQuant8Versions("1.0"), TENSOR_INT32: "aidl2" } as const;
    expectTypes(reshape, versions, (type) => [tensorOf(type, [1]), i32([1])], declaredLike);
    expect(mismatchOf(reshape, [input])).toContain("expected 2 inputs and 1 outputs, got 1 inputs and 1 outputs");
    expect(mismatchOf(reshape, [input, f32([1])])).toContain(
      "input 1 (shape): expected TENSOR_INT32, got TENSOR_FLOAT32",
    );
  });
});

describe("SQUEEZE", () => {
  const input = f32([1, 2, 1, 3], [1, 2, 3, 4, 5, 6]);
  const squeezed = (...axes: number[]) => runForOne(squeeze, [input, i32([axes.length], axes)]);

  it("removes all dimensions of extent 1 if no axes are given", () => {
    const output = runForOne(squeeze, [input, giveOmitted("TENSOR_INT32")]);
    expect(output.dimensions).toEqual([2, 3]);
    expect(valuesOf(output)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("removes the dimensions listed", () => {
    expect(squeezed(0).dimensions).toEqual([2, 1, 3]);
    expect(squeezed(2).dimensions).toEqual([1, 2, 3]);
    expect(squeezed(-2, 0, 2).dimensions).toEqual([2, 3]);
    expect(squeezed().dimensions).toEqual([1, 2, 1, 3]);
  });

  it("leaves [1] if nothing remains", () => {
    expect(runForOne(squeeze, [f32([1, 1], [5]), giveOmitted("TENSOR_INT32")]).dimensions).toEqual([1]);
    expect(runForOne(squeeze, [f32([1, 1], [5]), i32([2], [0, 1])]).dimensions).toEqual([1]);
  });

  it("keeps scale and zero point, and extents of 0", () => {
    const output = runForOne(squeeze, [q8s([1, 2], 0.5, -3, [-7, 8]), i32([1], [0])]);
    expect(output).toMatchObject({ dimensions: [2], scale: 0.5, zeroPoint: -3 });
    expect(valuesOf(output)).toEqual([-7, 8]);
    expect(runForOne(squeeze, [f32([0, 1]), giveOmitted("TENSOR_INT32")]).dimensions).toEqual([0]);
  });

  it.each([
    [1, "axis 1: expected extent 1, got 2"],
    [4, "axis 4 is outside [-4, 4)"],
    [-5, "axis -5 is outside [-4, 4)"],
  ])("refuses axis %i", (axis, message) => {
    expect(() => squeezed(axis)).toThrow(message);
  });

  it("takes the HAL's types", () => {
    expectTypes(squeeze, floatAndQuant8Versions("1.1"), (type) => [tensorOf(type, [1]), i32([1])], declaredLike);
    expect(() => runForOne(squeeze, [f32([1, 1, 1, 1, 2]), i32([1])])).toThrow("input: expected rank 1 to 4, got 5");
  });
});

describe("EXPAND_DIMS", () => {
  const input = i32([2, 3], [1, 2, 3, 4, 5, 6]);

  it.each([
    [0, [1, 2, 3]],
    [1, [2, 1, 3]],
    [2, [2, 3, 1]],
    [-1, [2, 3, 1]],
    [-3, [1, 2, 3]],
  ])("inserts a dimension at axis %i", (axis, dimensions) => {
    const output = runForOne(expandDims, [input, i32Scalar(axis)]);
    expect(output.dimensions).toEqual(dimensions);
    expect(valuesOf(output)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it.each([3, -4])("refuses axis %i", (axis) => {
    expect(() => runForOne(expandDims, [input, i32Scalar(axis)])).toThrow(`axis ${axis} is outside [-3, 3)`);
  });

  it("keeps scale and zero point, and accepts any rank", () => {
    expect(runForOne(expandDims, [q8([1], 2, 9, [3]), i32Scalar(0)])).toMatchObject({ scale: 2, zeroPoint: 9 });
    expect(runForOne(expandDims, [f32([1, 1, 1, 1, 1]), i32Scalar(-1)]).dimensions).toEqual([1, 1, 1, 1, 1, 1]);
  });

  it("takes the HAL's types", () => {
    const inputs = (type: Parameters<typeof tensorOf>[0]) => [tensorOf(type, [1]), i32Scalar(0)];
    expectTypes(expandDims, floatIntegerAndQuant8Versions, inputs, declaredLike);
  });
});
