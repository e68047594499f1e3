/**
 * GROUPED_CONV_2D: a case worked out by hand, the ways to write its operand list, and its own rules.
 */
import { describe, expect, it } from "vitest";
import { boolScalar, f32, i32Scalar, mismatchOf, runForOne, valuesOf, versionOf } from "./_run.test-helper.ts";
import { groupedConv2d } from "./grouped-conv-2d.ts";

const ints = (...values: number[]) => values.map(i32Scalar);
const layout = boolScalar(false);
const operands = [f32([1, 1, 1, 4], [1, 2, 3, 4]), f32([2, 1, 1, 2], [10, 1, 100, 1000]), f32([2], [0.5, 0])];

describe("GROUPED_CONV_2D", () => {
  it("reads for each group of filters its own input channels", () => {
    const output = runForOne(groupedConv2d, [...operands, ...ints(0, 0, 0, 0, 1, 1, 2, 0), layout]);
    expect(output.dimensions).toEqual([1, 1, 1, 2]);
    expect(valuesOf(output)).toEqual([12.5, 4300]);
  });

  it("pads by a scheme, too", () => {
    const inputs = [f32([1, 1, 2, 2], [1, 2, 3, 4]), f32([2, 1, 2, 1], [1, 10, 1, 10]), f32([2])];
    const run = (scheme: number) => runForOne(groupedConv2d, [...inputs, ...ints(scheme, 1, 1, 2, 0), layout]);
    expect(valuesOf(run(1))).toEqual([31, 42, 3, 4]);
    expect(valuesOf(run(2))).toEqual([31, 42]);
    expect(() => run(5)).toThrow("padding scheme 5");
  });

  it("always has a layout", () => {
    const version = (inputs: Parameters<typeof versionOf>[1]) => versionOf(groupedConv2d, [...operands, ...inputs]);
    expect(version([...ints(2, 1, 1, 2, 0), layout])).toBe("1.2");
    expect(version([...ints(0, 0, 0, 0, 1, 1, 2, 0), layout])).toBe("1.2");
    expect(mismatchOf(groupedConv2d, [...operands, ...ints(2, 1, 1, 2, 0)])).toContain(
      "expected 12 inputs and 1 outputs, or 9 inputs and 1 outputs, got 8 inputs and 1 outputs",
    );
    expect(mismatchOf(groupedConv2d, [...operands, ...ints(0, 0, 0, 0, 1, 1, 2, 0)])).toContain("got 11 inputs");
  });

  it("wants groups that divide the channels", () => {
    const run = (groups: number, depth: number, filters: number) =>
      runForOne(groupedConv2d, [
        f32([1, 1, 1, 4]),
        f32([filters, 1, 1, depth]),
        f32([filters]),
        ...ints(2, 1, 1, groups, 0),
        layout,
      ]);
    expect(run(2, 2, 6).dimensions).toEqual([1, 1, 1, 6]);
    expect(run(1, 4, 3).dimensions).toEqual([1, 1, 1, 3]);
    expect(() => run(0, 4, 3)).toThrow("the number of groups is 0, less than 1");
    expect(() => run(-1, 4, 3)).toThrow("the number of groups is -1, less than 1");
    expect(() => run(2, 2, 5)).toThrow("the filter has 5 output channels, not a multiple of 2 groups");
    expect(() => run(2, 3, 6)).toThrow("the input: expected 2 groups * 3, got 4");
  });
});
