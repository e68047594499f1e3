import { describe, expect, it } from "vitest";
import {
  declareOutput,
  f32,
  type Given,
  i32,
  i32Scalar,
  mismatchOf,
  q8,
  runForOne,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { mirrorPad } from "./mirror-pad.ts";
import { pack } from "./pack.ts";
import { reverse } from "./reverse.ts";
import { rsqrt } from "./rsqrt.ts";

describe("PACK", () => {
  const [a, b] = [f32([2], [1, 2]), f32([2], [3, 4])];
  const packed = (axis: number, ...values: readonly Given[]) =>
    runForOne(pack, [i32Scalar(axis), ...values], values[0] && { ...values[0], dimensions: [] });
  const outputs = [declareOutput("TENSOR_FLOAT32")];

  it.each([
    [0, [2, 2], [1, 2, 3, 4]],
    [1, [2, 2], [1, 3, 2, 4]],
  ])("joins along axis %d", (axis, shape, values) => {
    const output = packed(axis, a, b);
    expect(output.dimensions).toEqual(shape);
    expect(valuesOf(output)).toEqual(values);
  });

  it("refuses an axis outside of the result, shapes that differ, and quantisation that differs", () => {
    for (const axis of [-1, 2]) {
      expect(() => packed(axis, a)).toThrow(`axis ${axis} is outside [0, 1]`);
    }
    expect(() => packed(0, a, f32([1]))).toThrow("value 1: expected value 0's shape 2, got 1");
    const scaled = [q8([1], 1, 0), q8([1], 2, 0)];
    expect(() => packed(0, ...scaled)).toThrow("value 1: expected value 0's scale 1");
  });

  it("takes an axis and at least one tensor since AIDL 2", () => {
    expect(versionOf(pack, [i32Scalar(0), a], { outputs })).toBe("aidl2");
    expect(mismatchOf(pack, [i32Scalar(0)], { outputs })).toContain("expected at least 2 inputs");
    expect(mismatchOf(pack, [i32Scalar(0), a, i32([2])], { outputs })).toContain("got TENSOR_INT32");
  });
});

describe("MIRROR_PAD", () => {
  const x = f32([3], [1, 2, 3]);
  const padded = (mode: number, before: number, after: number) =>
    valuesOf(runForOne(mirrorPad, [x, i32([1, 2], [before, after]), i32Scalar(mode)]));

  it("leaves out the border or repeats it", () => {
    expect(padded(0, 2, 1)).toEqual([3, 2, 1, 2, 3, 2]);
    expect(padded(1, 2, 3)).toEqual([2, 1, 1, 2, 3, 3, 2, 1]);
  });

  it.each([
    [0, 2],
    [1, 3],
  ])("in mode %d refuses more than %d elements, less than 0, and no other mode", (mode, most) => {
    expect(padded(mode, most, most)).toHaveLength(3 + 2 * most);
    expect(() => padded(mode, most + 1, 0)).toThrow(`is more than the ${most} elements to repeat`);
    expect(() => padded(mode, 0, most + 1)).toThrow(`is more than the ${most} elements to repeat`);
    expect(() => padded(mode, -1, 0)).toThrow("padding -1 and 0 of axis 0 is less than 0");
  });

  it("refuses other modes and paddings of another shape", () => {
    for (const mode of [-1, 2]) expect(() => padded(mode, 0, 0)).toThrow(`got ${mode}`);
    expect(() => runForOne(mirrorPad, [x, i32([2, 2]), i32Scalar(0)])).toThrow("the paddings");
    expect(versionOf(mirrorPad, [x, i32([1, 2]), i32Scalar(0)])).toBe("aidl3");
  });
});

describe("REVERSE", () => {
  const x = f32([2, 3], [1, 2, 3, 4, 5, 6]);
  const reversed = (...axes: number[]) => valuesOf(runForOne(reverse, [x, i32([axes.length], axes)]));

  it("reverses one axis", () => {
    expect(reversed(0)).toEqual([4, 5, 6, 1, 2, 3]);
    expect(reversed(1)).toEqual([3, 2, 1, 6, 5, 4]);
  });

  it("refuses an axis outside of the input, two axes, and ranks of 9", () => {
    for (const axis of [-1, 2]) expect(() => reversed(axis)).toThrow(`axis ${axis} is outside [0, 2)`);
    expect(() => reversed(0, 1)).toThrow("the axis");
    const ones = (rank: number) => f32(new Array<number>(rank).fill(1), [1]);
    expect(valuesOf(runForOne(reverse, [ones(8), i32([1], [7])]))).toEqual([1]);
    expect(() => runForOne(reverse, [ones(9), i32([1], [0])])).toThrow("input: expected rank 1 to 8, got 9");
    expect(versionOf(reverse, [x, i32([1])])).toBe("aidl3");
  });
});

describe("RSQRT of 8 bits", () => {
  it("is rounded once, and the greatest for 0 and less", () => {
    const output = { type: "TENSOR_QUANT8_ASYMM", dimensions: [], scale: 0.25, zeroPoint: 3 } as const;
    const result = runForOne(rsqrt, [q8([4], 1, 10, [9, 10, 11, 14])], output);
    expect(valuesOf(result)).toEqual([255, 255, 7, 5]);
  });
});
