import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fixedPoint16, fixedPoint32, inverseSquareRoot, reciprocal } from "./fixed-point-functions.ts";

const INT32_MAX = 2 ** 31 - 1;
const INT32_MIN = -(2 ** 31);

/** Values of a width, spread evenly, with both ends, 0 and its neighbours. */
function sample(width: 16 | 32, count: number): number[] {
  const least = -(2 ** (width - 1));
  const spread = Array.from({ length: count }, (_, index) => Math.floor(least + (index * 2 ** width) / count));
  return [...spread, least + 1, -1, 0, 1, -least - 1];
}

/** The greatest difference between a fixed-point function and the real one over a sample, in units of its result. */
function worst(
  width: 16 | 32,
  integerBits: number,
  fixed: (value: number, integerBits: number) => number,
  real: (x: number) => number,
  values: readonly number[],
): number {
  const one = 2 ** (width - 1);
  let greatest = 0;
  for (const value of values) {
    const x = value / 2 ** (width - 1 - integerBits);
    greatest = Math.max(greatest, Math.abs(fixed(value, integerBits) - real(x) * one));
  }
  return greatest;
}

/** FNV-1a over 16-bit values. */
function hash(values: readonly number[]): number {
  return values.reduce((state, value) => Math.imul(state ^ (value & 0xffff), 0x0100_0193) >>> 0, 0x811c_9dc5);
}

const logistic = (x: number) => 1 / (1 + Math.exp(-x));

describe("on 16 bits", () => {
  const all = Array.from({ length: 0x1_0000 }, (_, index) => index - 0x8000);
  const notPositive = all.filter((value) => value <= 0);

  it.each([0, 1, 2, 3, 4, 5, 6, 7])("exponential of all values with %d integer bits is within 2 units", (bits) => {
    expect(worst(16, bits, fixedPoint16.exponential, Math.exp, notPositive)).toBeLessThan(2);
  });

  it.each([0, 1, 2, 3, 4, 5, 6])("logistic of all values with %d integer bits is within 7 units", (bits) => {
    expect(worst(16, bits, fixedPoint16.logistic, logistic, all)).toBeLessThan(7);
  });

  it.each([0, 1, 2, 3, 4, 5, 6])("tanh of all values with %d integer bits is within 12.5 units", (bits) => {
    expect(worst(16, bits, fixedPoint16.tanh, Math.tanh, all)).toBeLessThan(12.5);
  });

  // Hashes of the HAL reference's own results.
  it.each([
    [0, 0xe949e206, 0x16926fe9, 0x688303e1],
    [3, 0x9c82d73c, 0xb44d02c1, 0x33fddf7c],
    [4, 0x1356bae1, 0xd0f3f6ce, 0xd7932c8a],
    [6, 0x3946021d, 0xda2b4de2, 0x212a06ac],
  ])("all values with %d integer bits give the reference's results to the bit", (bits, exponential, sigmoid, tanh) => {
    expect(hash(all.map((value) => (value > 0 ? 0 : fixedPoint16.exponential(value, bits))))).toBe(exponential);
    expect(hash(all.map((value) => fixedPoint16.logistic(value, bits)))).toBe(sigmoid);
    expect(hash(all.map((value) => fixedPoint16.tanh(value, bits)))).toBe(tanh);
  });

  it("stays within 16 bits", () => {
    for (const value of all) {
      for (const result of [fixedPoint16.logistic(value, 3), fixedPoint16.tanh(value, 4)]) {
        if (result < -0x8000 || result > 0x7fff) expect.fail(`${value} gives ${result}`);
      }
    }
  });
});

describe("on 32 bits", () => {
  const values = sample(32, 5_000);
  const notPositive = values.filter((value) => value <= 0);

  // A unit is 2^-31. The Taylor expansion of exp stops at the fourth power.
  it.each([0, 2, 4, 5, 6, 8, 12])("exponential with %d integer bits is within 512 units", (bits) => {
    expect(worst(32, bits, fixedPoint32.exponential, Math.exp, notPositive)).toBeLessThan(512);
  });

  it.each([0, 2, 4, 5, 6, 8])("logistic with %d integer bits is within 160 units", (bits) => {
    expect(worst(32, bits, fixedPoint32.logistic, logistic, values)).toBeLessThan(160);
  });

  it.each([0, 2, 4, 5, 6, 8])("tanh with %d integer bits is within 320 units", (bits) => {
    expect(worst(32, bits, fixedPoint32.tanh, Math.tanh, values)).toBeLessThan(320);
  });

  // Results of the HAL's reference.
  it.each([
    [4, -2009013142, 678, 679, -2147483647],
    [4, -1760847978, 4308, 4307, -2147483647],
    [4, -1318, 2147462069, 1073736431, -21332],
    [5, -986501540, 887, 887, -2147483647],
    [5, -1085896199, 202, 199, -2147483647],
  ])("with %d integer bits, %d returns exp %d, logistic %d and tanh %d", (bits, value, exponential, sigmoid, tanh) => {
    expect(fixedPoint32.exponential(value, bits)).toBe(exponential);
    expect(fixedPoint32.logistic(value, bits)).toBe(sigmoid);
    expect(fixedPoint32.tanh(value, bits)).toBe(tanh);
  });

  it("reciprocalOfOnePlus is within 2^-28", () => {
    const fractions = values.filter((value) => value >= 0);
    expect(worst(32, 0, fixedPoint32.reciprocalOfOnePlus, (x) => 1 / (1 + x), fractions)).toBeLessThan(8);
  });
});

describe.each([
  ["16", fixedPoint16, 0x7fff],
  ["32", fixedPoint32, INT32_MAX],
] as const)("at 0 and far out, on %s bits", (_, functions, greatest) => {
  it("the results are exact", () => {
    expect(functions.exponential(0, 4)).toBe(greatest);
    expect(functions.logistic(0, 4)).toBe((greatest + 1) / 2);
    expect(functions.tanh(0, 4)).toBe(0);
    expect(functions.tanh(greatest, 5)).toBe(greatest);
    expect(functions.tanh(-greatest - 1, 5)).toBe(-greatest);
    expect(functions.logistic(greatest, 5)).toBe(greatest);
    expect(functions.logistic(-greatest - 1, 5)).toBe(0);
  });

  it("exp is 0 below -32", () => {
    const fractionalBits = Math.log2(greatest + 1) - 6;
    expect(functions.exponential(-32 * 2 ** fractionalBits - 1, 6)).toBe(0);
    expect(functions.exponential(-greatest - 1, 6)).toBe(0);
  });

  it("logistic of opposite values adds up to the greatest, tanh to 0", () => {
    for (const value of [1, 7, 100, 5000, 30000]) {
      expect(functions.logistic(value, 3) + functions.logistic(-value, 3)).toBe(greatest);
      expect(functions.tanh(value, 3) + functions.tanh(-value, 3)).toBe(0);
    }
  });
});

describe("rescale", () => {
  it.each([
    [5, 3, 3, 5],
    [5, 0, 1, 3],
    [-5, 0, 1, -3],
    [4, 0, 2, 1],
    [5, 3, 1, 20],
    [2 ** 29 - 1, 2, 0, 2 ** 31 - 4],
    [2 ** 29, 2, 0, INT32_MAX],
    [-(2 ** 29), 2, 0, INT32_MIN],
    [-(2 ** 29) - 1, 2, 0, INT32_MIN],
  ])("%d with %d integer bits is with %d of them %d", (value, from, to, result) => {
    expect(fixedPoint32.rescale(value, from, to)).toBe(result);
  });

  it("saturates at 16 bits if it works on 16", () => {
    expect(fixedPoint16.rescale(0x1fff, 2, 0)).toBe(0x7ffc);
    expect(fixedPoint16.rescale(0x2000, 2, 0)).toBe(0x7fff);
    expect(fixedPoint16.rescale(-0x2001, 2, 0)).toBe(-0x8000);
  });
});

describe("reciprocal", () => {
  it("is within 2^-27 of 1 / x, also for values beyond 32 bits", () => {
    const positive = fc.oneof(fc.integer({ min: 1, max: INT32_MAX }), fc.integer({ min: 1, max: 2 ** 50 }));
    fc.assert(
      fc.property(positive, fc.integer({ min: 0, max: 20 }), (value, integerBits) => {
        const { mantissa, shift } = reciprocal(value, integerBits);
        const x = value / 2 ** (31 - integerBits);
        expect(mantissa).toBeGreaterThanOrEqual(2 ** 30 - 8);
        expect(mantissa).toBeLessThanOrEqual(INT32_MAX);
        expect(Math.abs(mantissa * 2 ** (shift - 31) * x - 1)).toBeLessThan(2 ** -27);
      }),
    );
  });
});

describe("inverseSquareRoot", () => {
  const asNumber = ({ mantissa, shift }: { mantissa: number; shift: number }) => mantissa * 2 ** (shift - 31);

  it("is 1 / √x within 2^-12 of it, for any positive int32", () => {
    const positive = fc.oneof(fc.integer({ min: 2, max: INT32_MAX }), fc.integer({ min: 2, max: 5000 }));
    fc.assert(
      fc.property(positive, (value) => {
        const multiplier = inverseSquareRoot(value);
        expect(multiplier.shift).toBeLessThanOrEqual(0);
        expect(Math.abs(asNumber(multiplier) * Math.sqrt(value) - 1)).toBeLessThan(2 ** -12);
      }),
    );
  });

  it.each([0, 1])("%d counts as 1", (value) => {
    expect(inverseSquareRoot(value)).toEqual({ mantissa: INT32_MAX, shift: 0 });
  });

  it("is exact to 24 bits at powers of four", () => {
    for (let power = 1; power < 15; power++) {
      expect(asNumber(inverseSquareRoot(4 ** power)) * 2 ** power).toBeCloseTo(1, 7);
    }
  });
});
