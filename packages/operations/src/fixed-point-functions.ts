/**
 * Functions in fixed point, step by step as the HAL's reference computes them: a quantised result is exact to the bit or
 * one step away, so the roundings on the way count. An integer of 16 or 32 bits with I integer bits stands for
 * value / 2^(width - 1 - I), a number in [-2^I, 2^I). Results in [-1, 1] have 0 integer bits; 1 itself is the greatest
 * integer.
 */
import {
  clamp,
  type QuantisedMultiplier,
  roundHalfAway,
  roundingDivideByPowerOfTwo,
  saturatingRoundingDoublingHighMultiply,
  saturatingRoundingDoublingHighMultiply16,
} from "./fixed-point.ts";

/** The functions at one width. */
export interface FixedPointFunctions {
  /** a · b, rounded; the integer bits of the two add up. */
  multiply(a: number, b: number): number;
  /** The same number with other integer bits: rounded if it loses bits, saturated if it does not fit. */
  rescale(value: number, integerBits: number, toIntegerBits: number): number;
  /** exp(x) for x ≤ 0, with at least 2 fractional bits. */
  exponential(value: number, integerBits: number): number;
  /** 1 / (1 + x) for x in [0, 1] with 0 integer bits. */
  reciprocalOfOnePlus(value: number): number;
  /** 1 / (1 + exp(-x)). */
  logistic(value: number, integerBits: number): number;
  /** tanh(x), with at least 3 fractional bits. */
  tanh(value: number, integerBits: number): number;
}

/** On 32-bit integers. */
export const fixedPoint32: FixedPointFunctions = fixedPointFunctions(32, saturatingRoundingDoublingHighMultiply);

/** On 16-bit integers, as the quantised LSTMs use them. */
export const fixedPoint16: FixedPointFunctions = fixedPointFunctions(16, saturatingRoundingDoublingHighMultiply16);

function fixedPointFunctions(width: 16 | 32, multiply: (a: number, b: number) => number): FixedPointFunctions {
  const greatest = 2 ** (width - 1) - 1;
  const least = -greatest - 1;
  // Constants are rounded to 32 bits first, whatever the width.
  const constant = (real: number, integerBits: number) =>
    roundingDivideByPowerOfTwo(roundHalfAway(real * 2 ** (31 - integerBits)), 32 - width);
  const eighth = constant(1 / 8, 0);
  const third = constant(1 / 3, 0);
  const exponentialOfMinusEighth = constant(Math.exp(-1 / 8), 0);
  // exp(-2^k) for k from -2 to 4.
  const exponentialsOfPowers = Array.from({ length: 7 }, (_, index) => constant(Math.exp(-(2 ** (index - 2))), 0));
  const oneOfTwoBits = constant(1, 2);
  const newtonConstant = constant(48 / 17, 2);
  const newtonSlope = constant(-32 / 17, 2);

  function rescale(value: number, integerBits: number, toIntegerBits: number): number {
    const exponent = integerBits - toIntegerBits;
    if (exponent <= 0) return roundingDivideByPowerOfTwo(value, -exponent);
    return clamp(value * (1 << exponent), least, greatest);
  }

  /** exp(x) for x in [-1/4, 0): e^(-1/8) · (1 + y + y²/2 + y³/6 + y⁴/24) with y = x + 1/8. */
  function exponentialNearZero(value: number): number {
    const y = value + eighth;
    const y2 = multiply(y, y);
    const y3 = multiply(y2, y);
    const y4 = multiply(y2, y2);
    const higher = multiply(roundingDivideByPowerOfTwo(y4, 2) + y3, third) + y2;
    const power = y + roundingDivideByPowerOfTwo(higher, 1);
    return Math.min(exponentialOfMinusEighth + multiply(exponentialOfMinusEighth, power), greatest);
  }

  function exponential(value: number, integerBits: number): number {
    if (value === 0) return greatest;
    const fractionalBits = width - 1 - integerBits;
    if (integerBits > 5 && value < -32 * (1 << fractionalBits)) return 0;
    // x = remainder - quarters, the remainder in [-1/4, 0) and quarters a sum of powers of two from 1/4 up.
    const quarter = 1 << (fractionalBits - 2);
    const remainder = (value & (quarter - 1)) - quarter;
    const quarters = remainder - value;
    let result = exponentialNearZero(rescale(remainder, integerBits, 0));
    const steps = Math.min(integerBits + 2, exponentialsOfPowers.length);
    for (let step = 0; step < steps; step++) {
      if (quarters & (quarter << step)) result = multiply(result, exponentialsOfPowers[step]);
    }
    return result;
  }

  /** 2 / (1 + x) for x in [0, 1] with 0 integer bits; the result has 2. Three steps of Newton's division. */
  function twoOverOnePlus(value: number): number {
    const half = Math.floor((value + greatest + 1) / 2);
    let quotient = newtonConstant + multiply(half, newtonSlope);
    for (let step = 0; step < 3; step++) {
      quotient += rescale(multiply(quotient, oneOfTwoBits - multiply(half, quotient)), 4, 2);
    }
    return quotient;
  }

  function reciprocalOfOnePlus(value: number): number {
    // Read with one integer bit less, the quotient is half as much.
    return rescale(twoOverOnePlus(value), 1, 0);
  }

  return {
    multiply,
    rescale,
    exponential,
    reciprocalOfOnePlus,
    logistic(value, integerBits) {
      if (value === 0) return (greatest + 1) / 2;
      const ofMagnitude = reciprocalOfOnePlus(exponential(-Math.abs(value), integerBits));
      return value > 0 ? ofMagnitude : greatest - ofMagnitude;
    },
    tanh(value, integerBits) {
      if (value === 0) return 0;
      // tanh(x) = (1 - e) / (1 + e) = 2 / (1 + e) - 1 with e = exp(-2x); one more integer bit doubles x.
      const quotient = twoOverOnePlus(exponential(-Math.abs(value), integerBits + 1));
      const ofMagnitude = rescale(quotient - oneOfTwoBits, 2, 0);
      return value < 0 ? -ofMagnitude : ofMagnitude;
    },
  };
}

/** 1 / x for an integer x > 0 with integer bits (of 32; x may also be greater than an int32) as a multiplier of integers. */
export function reciprocal(value: number, integerBits: number): QuantisedMultiplier {
  let significant = value;
  let shift = -integerBits;
  while (significant > 0xffff_ffff) {
    significant = Math.floor(significant / 2);
    shift--;
  }
  const headroom = Math.clz32(significant);
  const overOne = significant * 2 ** headroom - 2 ** 31;
  return { mantissa: fixedPoint32.reciprocalOfOnePlus(overOne), shift: shift + headroom };
}

/** 1 / √x for an integer 0 ≤ x < 2^31 as a multiplier of integers; 0 counts as 1. */
export function inverseSquareRoot(value: number): QuantisedMultiplier {
  if (value <= 1) return { mantissa: 0x7fff_ffff, shift: 0 };
  const { multiply, rescale } = fixedPoint32;
  let scaled = value;
  let rightShift = 11;
  while (scaled >= 1 << 29) {
    scaled = Math.floor(scaled / 4);
    rightShift++;
  }
  const pairs = Math.floor((Math.clz32(scaled) - 1) / 2) - 1;
  rightShift -= pairs;
  scaled *= 4 ** pairs;
  // Newton's iteration x ← x · (3 - a · x²) / 2 in numbers with 3 integer bits, from 1, for a in [1/2, 2).
  const halfOfInput = roundingDivideByPowerOfTwo(scaled >> 1, 1);
  const halfOfThree = 3 << 27;
  let root = 1 << 28;
  for (let step = 0; step < 5; step++) {
    const cube = rescale(multiply(multiply(root, root), root), 9, 3);
    root = rescale(multiply(halfOfThree, root) - multiply(halfOfInput, cube), 6, 3);
  }
  const mantissa = multiply(root, roundHalfAway(Math.SQRT1_2 * 2 ** 31));
  return rightShift < 0 ? { mantissa: mantissa * 2 ** -rightShift, shift: 0 } : { mantissa, shift: -rightShift };
}
