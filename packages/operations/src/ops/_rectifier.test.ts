import { describe, expect, it } from "vitest";
import { f16, f32, i32, mismatchOf, q8, q8s, runForOne, valuesOf, versionOf } from "./_run.test-helper.ts";
import { relu } from "./relu.ts";
import { relu1 } from "./relu1.ts";
import { relu6 } from "./relu6.ts";

describe.each([
  [relu, 0, Number.POSITIVE_INFINITY],
  [relu1, -1, 1],
  [relu6, 0, 6],
] as const)("$name", (operation, least, greatest) => {
  const bound = (value: number) => Math.min(greatest, Math.max(least, value));

  it("bounds floats, both sides of each bound", () => {
    const values = [-100, -1.0625, -1, -0.9375, -0.125, 0, 0.125, 0.9375, 1, 1.0625, 5.9375, 6, 6.0625, 100];
    const expected = values.map(bound);
    expect(valuesOf(runForOne(operation, [f32([values.length], values)]))).toEqual(expected);
    expect(valuesOf(runForOne(operation, [f16([values.length], values)]))).toEqual(expected);
  });

  it("keeps NaN", () => {
    expect(valuesOf(runForOne(operation, [f32([1], [Number.NaN])]))).toEqual([Number.NaN]);
  });

  it.each([
    ["unsigned", q8, 0],
    ["signed", q8s, -128],
  ] as const)("bounds quantised elements in the input's scale, %s", (_, build, lowest) => {
    const all = Array.from({ length: 256 }, (_, index) => lowest + index);
    const zeroPoint = lowest + 100;
    const result = runForOne(operation, [build([2, 128], 0.125, zeroPoint, all)]);
    expect(result).toMatchObject({ dimensions: [2, 128], scale: 0.125, zeroPoint });
    expect(valuesOf(result)).toEqual(all.map((value) => zeroPoint + bound((value - zeroPoint) * 0.125) / 0.125));
  });

  it("rounds bounds that fall between two elements away from zero", () => {
    const result = runForOne(operation, [
      q8(
        [256],
        4,
        100,
        Array.from({ length: 256 }, (_, index) => index),
      ),
    ]);
    const values = valuesOf(result);
    expect(Math.min(...values)).toBe(100 + (least === -1 ? 0 : least));
    expect(Math.max(...values)).toBe(greatest === 6 ? 102 : greatest === 1 ? 100 : 255);
  });

  it("works on no elements", () => {
    expect(runForOne(operation, [f32([0, 4])]).dimensions).toEqual([0, 4]);
  });

  it("takes ranks 1 to 4 of float and 8-bit types", () => {
    expect(() => runForOne(operation, [f32([1, 1, 1, 1, 1])])).toThrow("input: expected rank 1 to 4, got 5");
    expect(versionOf(operation, [f32([1])])).toBe("1.0");
    expect(versionOf(operation, [f16([1])])).toBe("1.2");
    expect(versionOf(operation, [q8([1], 1, 0)])).toBe("1.0");
    expect(versionOf(operation, [q8s([1], 1, 0)])).toBe("1.3");
    expect(mismatchOf(operation, [i32([1])])).toContain("input 0 (input): expected TENSOR_FLOAT32, got TENSOR_INT32");
  });
});
