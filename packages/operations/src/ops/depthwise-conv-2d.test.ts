/**
 * DEPTHWISE_CONV_2D: a case worked out by hand, the ways to write its operand list, and its own rules.
 */
import { describe, expect, it } from "vitest";
import { boolScalar, f32, i32Scalar, mismatchOf, runForOne, valuesOf, versionOf } from "./_run.test-helper.ts";
import { depthwiseConv2d } from "./depthwise-conv-2d.ts";

const ints = (...values: number[]) => values.map(i32Scalar);
const operands = [
  f32([1, 1, 2, 2], [1, 2, 3, 4]),
  f32([1, 1, 2, 4], [1, 2, 3, 4, 10, 20, 30, 40]),
  f32([4], [0, 0, 0, 0.5]),
];

describe("DEPTHWISE_CONV_2D", () => {
  it("makes depthMultiplier neighbouring channels of each input channel", () => {
    const output = runForOne(depthwiseConv2d, [...operands, ...ints(0, 0, 0, 0, 1, 1, 2, 0)]);
    expect(output.dimensions).toEqual([1, 1, 1, 4]);
    expect(valuesOf(output)).toEqual([31, 62, 126, 168.5]);
  });

  it("makes them in either layout", () => {
    const nchw = [f32([1, 2, 1, 2], [1, 3, 2, 4]), ...operands.slice(1)];
    const output = runForOne(depthwiseConv2d, [...nchw, ...ints(2, 1, 1, 2, 0), boolScalar(true)]);
    expect(output.dimensions).toEqual([1, 4, 1, 1]);
    expect(valuesOf(output)).toEqual([31, 62, 126, 168.5]);
  });

  it("keeps the extent with SAME, the odd padding after, and counts dilation in", () => {
    const output = runForOne(depthwiseConv2d, [...operands, ...ints(1, 1, 1, 2, 0)]);
    expect(output.dimensions).toEqual([1, 1, 2, 4]);
    expect(valuesOf(output)).toEqual([31, 62, 126, 168.5, 3, 6, 12, 16.5]);
    const dilated = runForOne(depthwiseConv2d, [...operands, ...ints(1, 1, 1, 2, 0), boolScalar(false), ...ints(2, 1)]);
    expect(valuesOf(dilated)).toEqual([30, 60, 120, 160.5, 1, 2, 6, 8.5]);
  });

  it("has seven numbers of operands; eleven mean either form", () => {
    const layout = boolScalar(false);
    const version = (inputs: Parameters<typeof versionOf>[1]) => versionOf(depthwiseConv2d, [...operands, ...inputs]);
    expect(version(ints(2, 1, 1, 2, 0))).toBe("1.0");
    expect(version([...ints(2, 1, 1, 2, 0), layout])).toBe("1.2");
    expect(version([...ints(2, 1, 1, 2, 0), layout, ...ints(1, 1)])).toBe("1.2");
    expect(version(ints(0, 0, 0, 0, 1, 1, 2, 0))).toBe("1.0");
    expect(version([...ints(0, 0, 0, 0, 1, 1, 2, 0), layout])).toBe("1.2");
    expect(version([...ints(0, 0, 0, 0, 1, 1, 2, 0), layout, ...ints(1, 1)])).toBe("1.2");
    const mismatch = (inputs: Parameters<typeof versionOf>[1]) => mismatchOf(depthwiseConv2d, [...operands, ...inputs]);
    expect(mismatch([...ints(2, 1, 1, 2, 0), layout, ...ints(1)])).toContain(
      "expected 11/12/14 inputs and 1 outputs, or 8/9/11 inputs and 1 outputs, got 10 inputs and 1 outputs",
    );
    expect(mismatch([...ints(0, 0, 0, 0, 1, 1, 2, 0), layout, ...ints(1)])).toContain("got 13 inputs");
  });

  it("wants input channels * depth multiplier filters", () => {
    const run = (multiplier: number) => runForOne(depthwiseConv2d, [...operands, ...ints(2, 1, 1, multiplier, 0)]);
    expect(run(2).data).toHaveLength(4);
    for (const multiplier of [-2, 0, 1, 3]) {
      expect(() => run(multiplier)).toThrow(
        `the filter: expected 2 input channels * depth multiplier ${multiplier}, got 4`,
      );
    }
  });

  it("wants one filter per channel, not a batch of them", () => {
    const inputs = [f32([1, 1, 2, 2]), f32([2, 1, 2, 2]), f32([2]), ...ints(2, 1, 1, 1, 0)];
    expect(() => runForOne(depthwiseConv2d, inputs)).toThrow("the filter's first extent: expected 1, got 2");
  });

  it("refuses no channels at all", () => {
    const inputs = [f32([1, 1, 2, 0]), f32([1, 1, 2, 0]), f32([0]), ...ints(2, 1, 1, 1, 0)];
    expect(() => runForOne(depthwiseConv2d, inputs)).toThrow("the filter has no output channels");
  });
});
