/**
 * Functions of fixed point on numbers of 16 bits, as expressions: step by step those of the reference, so results are the same. A number with I integer bits stands for
 * value / 2^(15 - I).
 */
import { roundHalfAway } from "@nnhal/operations";
import { type Expression, makeInteger, on, select, shiftBits, within } from "./expression.ts";
import { divideByPower } from "./fixed-point.ts";

const [LEAST, GREATEST] = [-(2 ** 15), 2 ** 15 - 1];

/** A real number with some integer bits: rounded to 32 bits first, as the reference does. */
function constant(number: number, integerBits: number): Expression {
  return makeInteger(roundHalfAway(roundHalfAway(number * 2 ** (31 - integerBits)) / 2 ** 16));
}

/** a · b, halves up; the integer bits of the two add up. */
export function multiply16(a: Expression, b: Expression): Expression {
  const half = on("add", on("mul", a, b), makeInteger(1 << 14));
  return on("min", shiftBits("shr", half, 15), makeInteger(GREATEST));
}

/** The same number with other integer bits: rounded if it loses bits, saturated if it does not fit. */
export function rescale16(value: Expression, integerBits: number, toIntegerBits: number): Expression {
  const bits = integerBits - toIntegerBits;
  return bits <= 0 ? divideByPower(value, -bits) : within(shiftBits("shl", value, bits), LEAST, GREATEST);
}

const exponentialOfMinusEighth = constant(Math.exp(-1 / 8), 0);

/** exp(-2^k) for k from -2 to 4. */
const exponentialsOfPowers = Array.from({ length: 7 }, (_, place) => constant(Math.exp(-(2 ** (place - 2))), 0));

/** exp(x) for x in [-1/4, 0). */
function exponentialNearZero(value: Expression): Expression {
  const y = on("add", value, constant(1 / 8, 0));
  const y2 = multiply16(y, y);
  const y3 = multiply16(y2, y);
  const y4 = multiply16(y2, y2);
  const higher = on("add", multiply16(on("add", divideByPower(y4, 2), y3), constant(1 / 3, 0)), y2);
  const power = on("add", y, divideByPower(higher, 1));
  const scaled = multiply16(exponentialOfMinusEighth, power);
  return on("min", on("add", exponentialOfMinusEighth, scaled), makeInteger(GREATEST));
}

/** exp(x) for x ≤ 0, with at least 2 fractional bits; the result has no integer bits. */
function exponential(value: Expression, integerBits: number): Expression {
  const fractionalBits = 15 - integerBits;
  // x = remainder - quarters, the remainder in [-1/4, 0) and quarters a sum of powers of two from 1/4 up.
  const quarter = 1 << (fractionalBits - 2);
  const remainder = on("sub", on("and", value, makeInteger(quarter - 1)), makeInteger(quarter));
  const quarters = on("sub", remainder, value);
  let result = exponentialNearZero(rescale16(remainder, integerBits, 0));
  for (const [step, factor] of exponentialsOfPowers.slice(0, integerBits + 2).entries()) {
    const isIn = on("ne", on("and", quarters, makeInteger(quarter << step)), makeInteger(0));
    result = select(isIn, multiply16(result, factor), result);
  }
  if (integerBits > 5) {
    const isFar = on("lt", value, makeInteger(-32 * (1 << fractionalBits)));
    result = select(isFar, makeInteger(0), result);
  }
  return select(on("eq", value, makeInteger(0)), makeInteger(GREATEST), result);
}

const oneOfTwoBits = constant(1, 2);

/** 2 / (1 + x) for x in [0, 1] with no integer bits; the result has 2. Three steps of Newton's division. */
function twoOverOnePlus(value: Expression): Expression {
  const half = shiftBits("shr", on("add", value, makeInteger(1 << 15)), 1);
  let quotient = on("add", constant(48 / 17, 2), multiply16(half, constant(-32 / 17, 2)));
  for (let step = 0; step < 3; step++) {
    const error = on("sub", oneOfTwoBits, multiply16(half, quotient));
    quotient = on("add", quotient, rescale16(multiply16(quotient, error), 4, 2));
  }
  return quotient;
}

const zero = makeInteger(0);

const negativeMagnitude = (value: Expression): Expression => on("min", value, on("sub", zero, value));

/** 1 / (1 + exp(-x)), with no integer bits. */
export function logistic16(value: Expression, integerBits: number): Expression {
  const ofMagnitude = rescale16(twoOverOnePlus(exponential(negativeMagnitude(value), integerBits)), 1, 0);
  const result = select(on("gt", value, zero), ofMagnitude, on("sub", makeInteger(GREATEST), ofMagnitude));
  return select(on("eq", value, zero), makeInteger(1 << 14), result);
}

/** tanh(x), with at least 3 fractional bits; the result has no integer bits. */
export function hyperbolicTangent16(value: Expression, integerBits: number): Expression {
  // One more integer bit doubles x.
  const quotient = twoOverOnePlus(exponential(negativeMagnitude(value), integerBits + 1));
  const ofMagnitude = rescale16(on("sub", quotient, oneOfTwoBits), 2, 0);
  const result = select(on("lt", value, zero), on("sub", zero, ofMagnitude), ofMagnitude);
  return select(on("eq", value, zero), zero, result);
}
