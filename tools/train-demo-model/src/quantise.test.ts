import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  bestQuantisation,
  dequantiseValue,
  quantisationError,
  quantisationOf,
  quantiseBias,
  quantiseValue,
  quantiseValues,
  rangeOf,
} from "./quantise.ts";

const finite = fc.float({ min: -1000, max: 1000, noNaN: true });

describe("quantisationOf", () => {
  it("spans the range with 256 steps", () => {
    expect(quantisationOf({ low: 0, high: 255 })).toEqual({ scale: 1, zeroPoint: 0 });
    expect(quantisationOf({ low: -255, high: 0 })).toEqual({ scale: 1, zeroPoint: 255 });
    expect(quantisationOf({ low: -64, high: 63.5 })).toEqual({ scale: 0.5, zeroPoint: 128 });
  });

  it("widens a range without 0", () => {
    expect(quantisationOf({ low: 51, high: 255 })).toEqual({ scale: 1, zeroPoint: 0 });
    expect(quantisationOf({ low: -255, high: -51 })).toEqual({ scale: 1, zeroPoint: 255 });
  });

  it("gives a usable scale for a range of nothing but 0", () => {
    const { scale, zeroPoint } = quantisationOf({ low: 0, high: 0 });
    expect(scale).toBeGreaterThan(0);
    expect(zeroPoint).toBe(0);
  });

  it("refuses ends that are out of order or not finite", () => {
    expect(quantisationOf({ low: 1, high: 1 }).zeroPoint).toBe(0);
    expect(() => quantisationOf({ low: 1.01, high: 1 })).toThrow(/1\.01 … 1/);
    expect(() => quantisationOf({ low: Number.NaN, high: 1 })).toThrow(RangeError);
    expect(() => quantisationOf({ low: 0, high: Number.POSITIVE_INFINITY })).toThrow(RangeError);
  });

  it("represents 0 exactly, has a float32 scale and a zero point that is a byte", () => {
    fc.assert(
      fc.property(finite, finite, (a, b) => {
        const quantisation = quantisationOf({ low: Math.min(a, b), high: Math.max(a, b) });
        expect(quantisation.scale).toBe(Math.fround(quantisation.scale));
        expect(quantisation.zeroPoint).toBe(quantiseValue(0, quantisation));
        expect(Math.abs(dequantiseValue(quantiseValue(0, quantisation), quantisation))).toBe(0);
      }),
    );
  });
});

describe("quantiseValue", () => {
  const quantisation = { scale: 0.5, zeroPoint: 128 };

  it("rounds to the nearest byte", () => {
    expect(quantiseValue(0.24, quantisation)).toBe(128);
    expect(quantiseValue(0.26, quantisation)).toBe(129);
    expect(quantiseValue(-0.24, quantisation)).toBe(128);
    expect(quantiseValue(-0.26, quantisation)).toBe(127);
  });

  it("saturates at both ends, and only there", () => {
    expect(quantiseValue(63, quantisation)).toBe(254);
    expect(quantiseValue(63.5, quantisation)).toBe(255);
    expect(quantiseValue(64, quantisation)).toBe(255);
    expect(quantiseValue(-63.5, quantisation)).toBe(1);
    expect(quantiseValue(-64, quantisation)).toBe(0);
    expect(quantiseValue(-64.5, quantisation)).toBe(0);
    expect([...quantiseValues(Float32Array.of(-1e9, 0, 1e9), quantisation)]).toEqual([0, 128, 255]);
  });

  it("is at most one step off for values inside the range", () => {
    fc.assert(
      fc.property(finite, finite, fc.double({ min: 0, max: 1, noNaN: true }), (a, b, part) => {
        const [low, high] = [Math.min(a, b, 0), Math.max(a, b, 0)];
        const chosen = quantisationOf({ low, high });
        const value = low + part * (high - low);
        // The zero point is rounded to a byte too, so an end of the range may lie half a step beyond the last byte.
        const error = Math.abs(dequantiseValue(quantiseValue(value, chosen), chosen) - value);
        expect(error).toBeLessThanOrEqual(chosen.scale * 1.001);
        expect(dequantiseValue(quantiseValue(dequantiseValue(77, chosen), chosen), chosen)).toBe(
          dequantiseValue(77, chosen),
        );
      }),
    );
  });
});

describe("quantiseBias", () => {
  it("uses the product of the scales, rounded to float32, and saturates at both ends of int32", () => {
    const { scale, values } = quantiseBias(
      Float32Array.of(0, 1, -1, 0.12, 1e12, -1e12),
      { scale: 0.5, zeroPoint: 7 },
      { scale: 0.5, zeroPoint: 9 },
    );
    expect(scale).toBe(0.25);
    expect([...values]).toEqual([0, 4, -4, 0, 2 ** 31 - 1, -(2 ** 31)]);
    const third = Math.fround(1 / 3);
    expect(quantiseBias(Float32Array.of(1), { scale: third, zeroPoint: 0 }, { scale: third, zeroPoint: 0 }).scale).toBe(
      Math.fround(third * third),
    );
  });
});

describe("bestQuantisation", () => {
  it("keeps the full range of evenly spread values", () => {
    const values = Float32Array.from({ length: 1001 }, (_, index) => (index - 500) / 100);
    expect(bestQuantisation(values)).toEqual(quantisationOf({ low: -5, high: 5 }));
  });

  it("cuts off a lone extreme value when that makes the others finer", () => {
    const values = Float32Array.from({ length: 200_000 }, (_, index) => (index % 1000) / 1000);
    const even = bestQuantisation(values);
    values[0] = 1.6;
    const cut = bestQuantisation(values);
    expect(cut.scale).toBeLessThan(1.6 / 255);
    expect(cut.scale).toBeGreaterThanOrEqual(even.scale);
    expect(quantisationError(values, cut)).toBeLessThan(
      quantisationError(values, quantisationOf({ low: 0, high: 1.6 })),
    );
  });

  it("never errs more than the full range does", () => {
    fc.assert(
      fc.property(fc.float32Array({ min: -100, max: 100, noNaN: true, minLength: 1 }), (values) => {
        const full = quantisationOf(rangeOf(values));
        expect(quantisationError(values, bestQuantisation(values))).toBeLessThanOrEqual(
          quantisationError(values, full),
        );
      }),
    );
  });
});
