import { describe, expect, it } from "vitest";
import { f16, f32, i32, mismatchOf, q8, q8s, runForOne, valuesOf, versionOf } from "./_run.test-helper.ts";
import { logistic } from "./logistic.ts";
import { tanh } from "./tanh.ts";

const all = Array.from({ length: 256 }, (_, index) => index);
const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));

describe.each([
  [logistic, sigmoid, 1 / 256, 0, "1.0"],
  [tanh, Math.tanh, 1 / 128, 128, "1.2"],
] as const)("$name", (operation, real, scale, zeroPoint, quantisedSince) => {
  it("of floats is the real function rounded once", () => {
    const values = [-1000, -20, -3, -0.5, 0, 0.25, 1, 7, 90, 1e5].map(Math.fround);
    const expected = values.map((value) => Math.fround(real(value)));
    expect(valuesOf(runForOne(operation, [f32([values.length], values)]))).toEqual(expected);
    const [half] = valuesOf(runForOne(operation, [f16([1], [1])]));
    expect(Math.abs(half - real(1))).toBeLessThan(2 ** -11);
  });

  it.each([0.002, 0.01, 0.05, 0.1, 0.5, 1, 3.9, 4, 8, 200])(
    "of all quantised elements with scale %f is within one unit, unsigned and signed alike",
    (inputScale) => {
      const unsigned = runForOne(operation, [q8([256], inputScale, 117, all)]);
      expect(unsigned).toMatchObject({ scale, zeroPoint });
      const values = valuesOf(unsigned);
      values.forEach((value, index) => {
        const units = Math.min(255, real((index - 117) * Math.fround(inputScale)) / scale + zeroPoint);
        expect(Math.abs(value - units)).toBeLessThanOrEqual(1);
      });
      const lowered = all.map((value) => value - 128);
      const signed = runForOne(operation, [q8s([256], inputScale, 117 - 128, lowered)]);
      expect(signed).toMatchObject({ scale, zeroPoint: zeroPoint - 128 });
      expect(valuesOf(signed)).toEqual(values.map((value) => value - 128));
    },
  );

  it("works on no elements", () => {
    expect(runForOne(operation, [q8([0, 4], 1, 0)]).dimensions).toEqual([0, 4]);
  });

  it("takes ranks 1 to 4 of float and 8-bit types", () => {
    expect(() => runForOne(operation, [f32([1, 1, 1, 1, 1])])).toThrow("input: expected rank 1 to 4, got 5");
    expect(versionOf(operation, [f32([1])])).toBe("1.0");
    expect(versionOf(operation, [f16([1])])).toBe("1.2");
    expect(versionOf(operation, [q8([1], 1, 0)])).toBe(quantisedSince);
    expect(versionOf(operation, [q8s([1], 1, 0)])).toBe("1.3");
    expect(mismatchOf(operation, [i32([1])])).toContain("input 0 (input): expected TENSOR_FLOAT32, got TENSOR_INT32");
  });
});

describe("the reference's fixed point", () => {
  // Elements of the HAL reference for scale 0.03, zero point 128: every 16th.
  it.each([
    [logistic, [5, 9, 14, 21, 33, 49, 71, 98, 128, 158, 185, 207, 223, 235, 242, 247]],
    [tanh, [0, 0, 1, 2, 5, 14, 33, 71, 128, 185, 223, 242, 251, 254, 255, 255]],
  ])("$name", (operation, expected) => {
    const values = valuesOf(runForOne(operation, [q8([256], 0.03, 128, all)]));
    expect(values.filter((_, index) => index % 16 === 0)).toEqual(expected);
  });
});
