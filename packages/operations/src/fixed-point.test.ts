import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  clamp,
  effectiveScale,
  multiplyByQuantisedMultiplier,
  quantiseMultiplier,
  roundHalfAway,
  roundingDivideByPowerOfTwo,
  saturatingRoundingDoublingHighMultiply,
  saturatingRoundingDoublingHighMultiply16,
} from "./fixed-point.ts";

const INT32_MAX = 2 ** 31 - 1;
const INT32_MIN = -(2 ** 31);

/** 32-bit integers, with those near the ends, near 0 and near powers of two drawn often. */
const int32 = fc.oneof(
  fc.integer({ min: INT32_MIN, max: INT32_MAX }),
  fc.integer({ min: -3, max: 3 }),
  fc.integer({ min: 0, max: 3 }).map((step) => INT32_MIN + step),
  fc.integer({ min: 0, max: 3 }).map((step) => INT32_MAX - step),
  fc
    .tuple(fc.integer({ min: 0, max: 30 }), fc.constantFrom(-1, 1), fc.constantFrom(-1, 0, 1))
    .map(([power, sign, step]) => sign * 2 ** power + step),
);

/** Of BigInts, rounded towards minus infinity. */
function floorDivide(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  return dividend % divisor !== 0n && dividend < 0n !== divisor < 0n ? quotient - 1n : quotient;
}

/** value / 2^exponent, halves away from zero. */
function exactRoundingShift(value: bigint, exponent: number): bigint {
  const magnitude = value < 0n ? -value : value;
  const rounded = exponent === 0 ? magnitude : (magnitude + (1n << BigInt(exponent - 1))) >> BigInt(exponent);
  return value < 0n ? -rounded : rounded;
}

describe("roundHalfAway", () => {
  it.each([
    [0.5, 1],
    [-0.5, -1],
    [1.5, 2],
    [-1.5, -2],
    [2.5, 3],
    [-2.5, -3],
    [0.49999999999999994, 0],
    [-0.49999999999999994, 0],
    [2 ** 52 + 1, 2 ** 52 + 1],
    [-(2 ** 53) + 1, -(2 ** 53) + 1],
    [1e300, 1e300],
    [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
    [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY],
  ])("%f becomes %f", (value, rounded) => {
    expect(roundHalfAway(value) + 0).toBe(rounded);
  });

  it("is at most a half away, and further from zero if exactly a half", () => {
    fc.assert(
      fc.property(fc.double({ min: -1e9, max: 1e9, noNaN: true }), (value) => {
        const rounded = roundHalfAway(value);
        expect(Number.isInteger(rounded)).toBe(true);
        expect(Math.abs(rounded - value)).toBeLessThanOrEqual(0.5);
        if (Math.abs(rounded - value) === 0.5) expect(Math.abs(rounded)).toBeGreaterThan(Math.abs(value));
      }),
    );
  });

  it("keeps NaN", () => {
    expect(roundHalfAway(Number.NaN)).toBeNaN();
  });
});

describe("clamp", () => {
  it.each([
    [-3, -2],
    [-2, -2],
    [0, 0],
    [5, 5],
    [6, 5],
  ])("%f within [-2, 5] is %f", (value, clamped) => {
    expect(clamp(value, -2, 5)).toBe(clamped);
  });

  it("keeps NaN", () => {
    expect(clamp(Number.NaN, -2, 5)).toBeNaN();
  });
});

describe("saturatingRoundingDoublingHighMultiply", () => {
  it("is floor(a * b / 2^31 + 1/2) exactly", () => {
    fc.assert(
      fc.property(int32, int32, (a, b) => {
        fc.pre(a !== INT32_MIN || b !== INT32_MIN);
        const exact = floorDivide(BigInt(a) * BigInt(b) + (1n << 30n), 1n << 31n);
        expect(saturatingRoundingDoublingHighMultiply(a, b)).toBe(Number(exact));
      }),
      { numRuns: 20_000 },
    );
  });

  it("saturates if both are -2^31, and only then", () => {
    expect(saturatingRoundingDoublingHighMultiply(INT32_MIN, INT32_MIN)).toBe(INT32_MAX);
    expect(saturatingRoundingDoublingHighMultiply(INT32_MIN, INT32_MIN + 1)).toBe(INT32_MAX);
    expect(saturatingRoundingDoublingHighMultiply(INT32_MIN, INT32_MIN + 2)).toBe(INT32_MAX - 1);
    expect(saturatingRoundingDoublingHighMultiply(INT32_MIN, INT32_MAX)).toBe(-INT32_MAX);
  });

  it("rounds halves up, of either sign", () => {
    expect(saturatingRoundingDoublingHighMultiply(1, 2 ** 30)).toBe(1);
    expect(saturatingRoundingDoublingHighMultiply(-1, 2 ** 30)).toBe(0);
    expect(saturatingRoundingDoublingHighMultiply(-3, 2 ** 30)).toBe(-1);
  });
});

describe("saturatingRoundingDoublingHighMultiply16", () => {
  it("is floor(a * b / 2^15 + 1/2) exactly", () => {
    const int16 = fc.oneof(
      fc.integer({ min: -0x8000, max: 0x7fff }),
      fc.constantFrom(-0x8000, -0x7fff, -1, 0, 1, 0x7fff),
    );
    fc.assert(
      fc.property(int16, int16, (a, b) => {
        const exact = Math.floor((a * b) / 2 ** 15 + 0.5);
        expect(saturatingRoundingDoublingHighMultiply16(a, b)).toBe(Math.min(exact, 0x7fff));
      }),
      { numRuns: 5_000 },
    );
  });

  it("saturates if both are -2^15", () => {
    expect(saturatingRoundingDoublingHighMultiply16(-0x8000, -0x8000)).toBe(0x7fff);
  });
});

describe("roundingDivideByPowerOfTwo", () => {
  it("rounds halves away from zero, for every exponent from 0 to 31", () => {
    fc.assert(
      fc.property(int32, fc.integer({ min: 0, max: 31 }), (value, exponent) => {
        const exact = exactRoundingShift(BigInt(value), exponent);
        expect(roundingDivideByPowerOfTwo(value, exponent)).toBe(Number(exact));
      }),
      { numRuns: 20_000 },
    );
  });

  it.each([
    [INT32_MAX, 31, 1],
    [2 ** 30, 31, 1],
    [2 ** 30 - 1, 31, 0],
    [INT32_MIN, 31, -1],
    [-(2 ** 30), 31, -1],
    [-(2 ** 30) + 1, 31, 0],
    [6, 2, 2],
    [-6, 2, -2],
  ])("%d / 2^%d is %d", (value, exponent, quotient) => {
    expect(roundingDivideByPowerOfTwo(value, exponent)).toBe(quotient);
  });
});

test("effectiveScale rounds the product to 32 bits, then the quotient", () => {
  const step = 2 ** -23;
  const scale = effectiveScale(1 + 2474 * step, 1 + 1954 * step, 1 + 6662 * step);
  // The quotient of the exact product is 1 - 2231.5 / 2^23, which is rounded to another number.
  expect((scale - 1) / step).toBe(-2231);
});

describe("quantiseMultiplier", () => {
  it("is a normal mantissa within half a unit of the multiplier", () => {
    fc.assert(
      fc.property(fc.double({ min: 2 ** -31, max: 2 ** 31, noNaN: true }), (multiplier) => {
        const { mantissa, shift } = quantiseMultiplier(multiplier);
        expect(mantissa).toBeGreaterThanOrEqual(2 ** 30);
        expect(mantissa).toBeLessThan(2 ** 31);
        const unit = 2 ** (shift - 31);
        expect(Math.abs(mantissa * unit - multiplier)).toBeLessThanOrEqual(unit / 2);
      }),
    );
  });

  it.each([
    [0, 0, 0],
    [0.5, 2 ** 30, 0],
    [1, 2 ** 30, 1],
    [0.75, 3 * 2 ** 29, 0],
    [2 ** -32, 2 ** 30, -31],
    // The mantissa would round up to 2^31.
    [1 - 2 ** -40, 2 ** 30, 1],
    [1 - 2 ** -31, 2 ** 31 - 1, 0],
  ])("%f is %d * 2^(%d - 31)", (multiplier, mantissa, shift) => {
    expect(quantiseMultiplier(multiplier)).toEqual({ mantissa, shift });
  });

  it("takes multipliers below 2^-32 for 0", () => {
    expect(quantiseMultiplier(2 ** -32 * (1 - 2 ** -20))).toEqual({ mantissa: 0, shift: 0 });
    expect(quantiseMultiplier(Number.MIN_VALUE)).toEqual({ mantissa: 0, shift: 0 });
  });
});

describe("multiplyByQuantisedMultiplier", () => {
  const mantissas = fc
    .integer({ min: 2 ** 30, max: INT32_MAX })
    .chain((mantissa) => fc.constantFrom(mantissa, -mantissa));

  it("rounds in the product, then in the shift to the right", () => {
    fc.assert(
      fc.property(int32, mantissas, fc.integer({ min: -31, max: 0 }), (value, mantissa, shift) => {
        const product = floorDivide(BigInt(value) * BigInt(mantissa) + (1n << 30n), 1n << 31n);
        const exact = exactRoundingShift(product, -shift);
        expect(multiplyByQuantisedMultiplier(value, { mantissa, shift })).toBe(Number(exact));
      }),
      { numRuns: 10_000 },
    );
  });

  it("shifts to the left first, and saturates there", () => {
    fc.assert(
      fc.property(int32, mantissas, fc.integer({ min: 1, max: 40 }), (value, mantissa, shift) => {
        const wide = BigInt(value) << BigInt(shift);
        const shifted = wide > INT32_MAX ? BigInt(INT32_MAX) : wide < INT32_MIN ? BigInt(INT32_MIN) : wide;
        const exact = floorDivide(shifted * BigInt(mantissa) + (1n << 30n), 1n << 31n);
        expect(multiplyByQuantisedMultiplier(value, { mantissa, shift })).toBe(Number(exact));
      }),
      { numRuns: 10_000 },
    );
  });

  it("comes within one of the real product", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -(2 ** 20), max: 2 ** 20 }),
        fc.double({ min: 1e-6, max: 500, noNaN: true }),
        (value, multiplier) => {
          const result = multiplyByQuantisedMultiplier(value, quantiseMultiplier(multiplier));
          expect(Math.abs(result - value * multiplier)).toBeLessThanOrEqual(1);
        },
      ),
    );
  });
});
