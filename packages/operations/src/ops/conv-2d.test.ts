/**
 * CONV_2D: a case worked out by hand, the ways to write its operand list, and its own rules.
 */
import { describe, expect, it } from "vitest";
import {
  boolScalar,
  declareOutput,
  f16,
  f32,
  i32,
  i32Scalar,
  mismatchOf,
  q8,
  runForOne,
  valuesOf,
  versionOf,
} from "./_run.test-helper.ts";
import { conv2d } from "./conv-2d.ts";

const ints = (...values: number[]) => values.map(i32Scalar);
const image = f32([1, 3, 3, 1], [1, 2, 3, 4, 5, 6, 7, 8, 9]);
const square = f32([1, 2, 2, 1], [1, 10, 100, 1000]);
const operands = [image, square, f32([1], [0.5])];

describe("CONV_2D", () => {
  it("multiplies the cells under the window, row by row", () => {
    const output = runForOne(conv2d, [...operands, ...ints(0, 0, 0, 0, 1, 1, 0)]);
    expect(output.dimensions).toEqual([1, 2, 2, 1]);
    expect(valuesOf(output)).toEqual([5421.5, 6532.5, 8754.5, 9865.5]);
  });

  it("sees 0 beyond the border: left, right, top, bottom in this order", () => {
    const values = (...padding: number[]) => valuesOf(runForOne(conv2d, [...operands, ...ints(...padding, 1, 1, 0)]));
    expect(values(1, 0, 0, 0).slice(0, 3)).toEqual([4010.5, 5421.5, 6532.5]);
    expect(values(0, 1, 0, 0).slice(0, 3)).toEqual([5421.5, 6532.5, 603.5]);
    expect(values(0, 0, 1, 0).slice(0, 2)).toEqual([2100.5, 3200.5]);
    expect(values(0, 0, 0, 1).slice(4, 6)).toEqual([87.5, 98.5]);
  });

  it("takes the stride along the width before that along the height", () => {
    expect(runForOne(conv2d, [...operands, ...ints(0, 0, 0, 0, 2, 1, 0)]).dimensions).toEqual([1, 2, 1, 1]);
    expect(runForOne(conv2d, [...operands, ...ints(0, 0, 0, 0, 1, 2, 0)]).dimensions).toEqual([1, 1, 2, 1]);
  });

  it("takes the dilation along the width before that along the height", () => {
    const dilate = (width: number, height: number) =>
      runForOne(conv2d, [...operands, ...ints(0, 0, 0, 0, 1, 1, 0), boolScalar(false), ...ints(width, height)]);
    expect(valuesOf(dilate(2, 1))).toEqual([6431.5, 9764.5]);
    expect(valuesOf(dilate(1, 2))).toEqual([8721.5, 9832.5]);
    expect(() => dilate(0, 1)).toThrow("dilation 0 is less than 1");
    expect(() => dilate(1, -1)).toThrow("dilation -1 is less than 1");
  });

  it("applies the activation to sum and bias", () => {
    const inputs = [
      f32([1, 1, 1, 1], [4]),
      f32([3, 1, 1, 1], [1, -1, 0.25]),
      f32([3], [3, 1, -0.5]),
      ...ints(0, 0, 0, 0, 1, 1),
    ];
    const values = (activation: number) => valuesOf(runForOne(conv2d, [...inputs, i32Scalar(activation)]));
    expect(values(0)).toEqual([7, -3, 0.5]);
    expect(values(1)).toEqual([7, 0, 0.5]);
    expect(values(2)).toEqual([1, -1, 0.5]);
    expect(values(3)).toEqual([6, 0, 0.5]);
  });

  it("takes zero points away, rescales and clamps", () => {
    const inputs = [
      q8([1, 1, 1, 2], 0.5, 10, [14, 8]),
      q8([3, 1, 1, 2], 0.5, 2, [6, 2, 2, 1, 255, 0]),
      i32([3], [4, 0, 0], 0.25),
    ];
    const output = declareOutput("TENSOR_QUANT8_ASYMM", { scale: 1, zeroPoint: 5 });
    // 2 · (−1)-grid: sums 4·4 + 4 = 20, −2·−1 = 2 and 4·253 + 2·2 = 1016 quarters; half rounds to the even 0.
    expect(valuesOf(runForOne(conv2d, [...inputs, ...ints(0, 0, 0, 0, 1, 1, 0)], output))).toEqual([10, 5, 255]);
    expect(valuesOf(runForOne(conv2d, [...inputs, ...ints(0, 0, 0, 0, 1, 1, 3)], output))).toEqual([10, 5, 11]);
  });

  it("rounds to float16 once, at the end", () => {
    const inputs = [f16([1, 1, 1, 3], [2048, 1, 1]), f16([1, 1, 1, 3], [1, 1, 1]), f16([1], [0])];
    expect(valuesOf(runForOne(conv2d, [...inputs, ...ints(0, 0, 0, 0, 1, 1, 0)]))).toEqual([2050]);
  });

  describe("with implicit padding", () => {
    const implicit = (scheme: number, stride = 1) =>
      runForOne(conv2d, [...operands, ...ints(scheme, stride, stride, 0)]);

    it("pads nothing with VALID and NONE", () => {
      expect(valuesOf(implicit(2))).toEqual([5421.5, 6532.5, 8754.5, 9865.5]);
      expect(valuesOf(implicit(0))).toEqual([5421.5, 6532.5, 8754.5, 9865.5]);
    });

    it("keeps the extent with SAME, the odd padding after", () => {
      expect(implicit(1).dimensions).toEqual([1, 3, 3, 1]);
      expect(valuesOf(implicit(1)).slice(0, 3)).toEqual([5421.5, 6532.5, 603.5]);
      expect(implicit(1, 2).dimensions).toEqual([1, 2, 2, 1]);
    });

    it("refuses other schemes, and strides that it cannot divide by", () => {
      expect(() => implicit(3)).toThrow("padding scheme 3 is none of NONE 0, SAME 1, VALID 2");
      expect(() => implicit(1, 0)).toThrow("stride 0 is less than 1");
    });

    it("counts dilation into the padding", () => {
      const dilated = [...operands, ...ints(1, 1, 1, 0), boolScalar(false), ...ints(2, 2)];
      expect(runForOne(conv2d, dilated).dimensions).toEqual([1, 3, 3, 1]);
      // The window covers 3 cells and is padded by 1 on every side.
      expect(valuesOf(runForOne(conv2d, dilated))[4]).toBe(9731.5);
    });

    it("finds height and width in either layout", () => {
      const nchw = [f32([1, 1, 2, 3], [1, 2, 3, 4, 5, 6]), square, f32([1])];
      const output = runForOne(conv2d, [...nchw, ...ints(1, 1, 1, 0), boolScalar(true)]);
      expect(output.dimensions).toEqual([1, 1, 2, 3]);
      expect(valuesOf(output)).toEqual([5421, 6532, 603, 54, 65, 6]);
    });
  });

  it("has seven numbers of operands; ten mean either form", () => {
    const layout = boolScalar(false);
    const version = (inputs: Parameters<typeof versionOf>[1]) => versionOf(conv2d, [...operands, ...inputs]);
    expect(version(ints(2, 1, 1, 0))).toBe("1.0");
    expect(version([...ints(2, 1, 1, 0), layout])).toBe("1.2");
    expect(version([...ints(2, 1, 1, 0), layout, ...ints(1, 1)])).toBe("1.2");
    expect(version(ints(0, 0, 0, 0, 1, 1, 0))).toBe("1.0");
    expect(version([...ints(0, 0, 0, 0, 1, 1, 0), layout])).toBe("1.2");
    expect(version([...ints(0, 0, 0, 0, 1, 1, 0), layout, ...ints(1, 1)])).toBe("1.2");
    const mismatch = (inputs: Parameters<typeof versionOf>[1]) => mismatchOf(conv2d, [...operands, ...inputs]);
    expect(mismatch([...ints(2, 1, 1, 0), layout, ...ints(1)])).toContain(
      "expected 10/11/13 inputs and 1 outputs, or 7/8/10 inputs and 1 outputs, got 9 inputs and 1 outputs",
    );
    expect(mismatch([...ints(0, 0, 0, 0, 1, 1, 0), layout, ...ints(1)])).toContain("got 12 inputs");
    expect(mismatch([...ints(0, 0, 0, 0, 1, 1, 0), layout, ...ints(1, 1, 1)])).toContain("got 14 inputs");
    expect(mismatch(ints(2, 1, 1))).toContain("got 6 inputs");
  });

  it("wants filters of the input's depth", () => {
    const run = (nchw: boolean) =>
      runForOne(conv2d, [f32([1, 4, 5, 3]), f32([2, 1, 1, 3]), f32([2]), ...ints(2, 1, 1, 0), boolScalar(nchw)]);
    expect(run(false).dimensions).toEqual([1, 4, 5, 2]);
    expect(() => run(true)).toThrow("the filter has 3 input channels where the input has 4");
    const empty = [f32([1, 2, 2, 0]), f32([2, 1, 1, 0]), f32([2]), ...ints(2, 1, 1, 0)];
    expect(() => runForOne(conv2d, empty)).toThrow("the input has no channels");
    const none = [f32([1, 2, 2, 1]), f32([0, 1, 1, 1]), f32([0]), ...ints(2, 1, 1, 0)];
    expect(() => runForOne(conv2d, none)).toThrow("the filter has no output channels");
  });

  it("wants a window that fits", () => {
    const run = (height: number, width: number) =>
      runForOne(conv2d, [f32([1, height, width, 1]), f32([1, 3, 2, 1]), f32([1]), ...ints(2, 1, 1, 0)]);
    expect(run(3, 2).dimensions).toEqual([1, 1, 1, 1]);
    expect(() => run(2, 2)).toThrow("a window of 3 does not fit the height of 2");
    expect(() => run(3, 1)).toThrow("a window of 2 does not fit the width of 1");
  });
});
