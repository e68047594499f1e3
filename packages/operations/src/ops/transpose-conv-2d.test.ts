/**
 * TRANSPOSE_CONV_2D: cases worked out by hand, the ways to write its operand list, and its own rules.
 */
import { describe, expect, it } from "vitest";
import { boolScalar, f32, i32, i32Scalar, mismatchOf, runForOne, valuesOf, versionOf } from "./_run.test-helper.ts";
import { transposeConv2d } from "./transpose-conv-2d.ts";

const ints = (...values: number[]) => values.map(i32Scalar);
const layout = boolScalar(false);
const row = [f32([1, 1, 2, 1], [1, 2]), f32([1, 1, 3, 1], [1, 10, 100]), f32([1], [0.5])];

describe("TRANSPOSE_CONV_2D", () => {
  it("adds the filter up at every input cell", () => {
    const spread = (stride: number) =>
      valuesOf(runForOne(transposeConv2d, [...row, ...ints(0, 0, 0, 0, stride, 1, 0), layout]));
    expect(spread(1)).toEqual([1.5, 12.5, 120.5, 200.5]);
    expect(spread(2)).toEqual([1.5, 10.5, 102.5, 20.5, 200.5]);
    expect(spread(4)).toEqual([1.5, 10.5, 100.5, 0.5, 2.5, 20.5, 200.5]);
  });

  it("cuts the padding off; negative padding after adds cells", () => {
    const pad = (left: number, right: number) =>
      valuesOf(runForOne(transposeConv2d, [...row, ...ints(left, right, 0, 0, 1, 1, 0), layout]));
    expect(pad(1, 0)).toEqual([12.5, 120.5, 200.5]);
    expect(pad(0, 3)).toEqual([1.5]);
    expect(pad(0, -1)).toEqual([1.5, 12.5, 120.5, 200.5, 0.5]);
    expect(() => pad(0, 4)).toThrow("padding 0 and 4 leave nothing of the width");
    expect(() => pad(-1, 0)).toThrow("the padding before the width is -1, less than 0");
  });

  describe("with implicit padding", () => {
    const implicit = (outputWidth: number, scheme: number, stride: number, filter = row[1]) =>
      runForOne(transposeConv2d, [
        row[0],
        filter,
        row[2],
        i32([4], [1, 1, outputWidth, 1]),
        ...ints(scheme, stride, 1, 0),
        layout,
      ]);

    it("reaches the shape asked for with SAME", () => {
      expect(valuesOf(implicit(2, 1, 1))).toEqual([12.5, 120.5]);
      expect(valuesOf(implicit(3, 1, 2))).toEqual([10.5, 102.5, 20.5]);
      expect(valuesOf(implicit(4, 1, 2))).toEqual([1.5, 10.5, 102.5, 20.5]);
    });

    it("adds cells after the last filter if the stride is longer", () => {
      expect(valuesOf(implicit(6, 1, 3, f32([1, 1, 1, 1], [7])))).toEqual([7.5, 0.5, 0.5, 14.5, 0.5, 0.5]);
    });

    it("pads nothing with VALID and NONE, whatever the shape asked for", () => {
      expect(valuesOf(implicit(4, 2, 1))).toEqual([1.5, 12.5, 120.5, 200.5]);
      expect(valuesOf(implicit(9, 0, 1))).toEqual([1.5, 12.5, 120.5, 200.5]);
    });

    it("finds height and width in either layout", () => {
      const nchw = [f32([1, 1, 2, 1], [1, 2]), f32([1, 3, 1, 1], [1, 10, 100]), f32([1])];
      const inputs = [...nchw, i32([4], [1, 1, 4, 1]), ...ints(1, 1, 2, 0), boolScalar(true)];
      const output = runForOne(transposeConv2d, inputs);
      expect(output.dimensions).toEqual([1, 1, 4, 1]);
      expect(valuesOf(output)).toEqual([1, 10, 102, 20]);
    });

    it("refuses other schemes, strides that it cannot divide by, and shapes of another rank", () => {
      expect(() => implicit(4, 3, 1)).toThrow("padding scheme 3");
      expect(() => implicit(4, 1, 0)).toThrow("stride 0 is less than 1");
      for (const shape of [i32([3], [1, 1, 4]), i32([5], [1, 1, 4, 1, 1]), i32([2, 2], [1, 1, 4, 1])]) {
        const inputs = [...row, shape, ...ints(1, 1, 1, 0), layout];
        expect(() => runForOne(transposeConv2d, inputs)).toThrow(/the output shape: expected 4 elements, got/);
      }
    });
  });

  it("always has a layout", () => {
    const version = (inputs: Parameters<typeof versionOf>[1]) => versionOf(transposeConv2d, [...row, ...inputs]);
    expect(version([i32([4]), ...ints(2, 1, 1, 0), layout])).toBe("1.2");
    expect(version([...ints(0, 0, 0, 0, 1, 1, 0), layout])).toBe("1.2");
    expect(mismatchOf(transposeConv2d, [...row, i32([4]), ...ints(2, 1, 1, 0)])).toContain(
      "expected 11 inputs and 1 outputs, or 9 inputs and 1 outputs, got 8 inputs and 1 outputs",
    );
    expect(mismatchOf(transposeConv2d, [...row, ...ints(0, 0, 0, 0, 1, 1, 0)])).toContain("got 10 inputs");
  });

  it("wants filters of the input's depth", () => {
    const inputs = [f32([1, 1, 2, 2]), ...row.slice(1), ...ints(0, 0, 0, 0, 1, 1, 0), layout];
    expect(() => runForOne(transposeConv2d, inputs)).toThrow("the filter has 1 input channels where the input has 2");
    const empty = [f32([1, 1, 2, 0]), f32([1, 1, 3, 0]), row[2], ...ints(0, 0, 0, 0, 1, 1, 0), layout];
    expect(() => runForOne(transposeConv2d, empty)).toThrow("the input has no channels");
  });
});
