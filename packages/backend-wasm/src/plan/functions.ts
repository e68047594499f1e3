/** exp and its kin as expressions of floats. */
import { convert, type Expression, makeInteger, on, real, select, shiftBits, within } from "./expression.ts";

/** ln 2 in two parts, of which products with small whole numbers are exact for the first. */
const ln2High = 0.693359375;
const ln2Low = -2.1219444e-4;

/** Coefficients of (exp(r) - 1 - r) / r² for |r| ≤ ln 2 / 2, from the highest power down. */
const coefficients = [
  1.98756915e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1,
];

/** A sum of powers of x, whose coefficients go from the highest down. */
function sumOfPowers(x: Expression, [first = 0, ...others]: readonly number[]): Expression {
  let sum: Expression = real(first);
  for (const coefficient of others) sum = on("add", on("mul", sum, x), real(coefficient));
  return sum;
}

/**
 * exp(x), within about 2 units in the last place: x = n · ln 2 + r, a polynomial in r, and n into the exponent. Below -87 the result is that of
 * -87, about 1e-38; above 88 that of 88. NaN stays NaN.
 */
export function exponential(x: Expression): Expression {
  const bounded = within(x, -87, 88);
  const turns = on("nearest", on("mul", bounded, real(Math.LOG2E)));
  const high = on("sub", bounded, on("mul", turns, real(ln2High)));
  const rest = on("sub", high, on("mul", turns, real(ln2Low)));
  const value = on("add", on("add", on("mul", sumOfPowers(rest, coefficients), on("mul", rest, rest)), rest), real(1));
  const exponent = shiftBits("shl", on("add", convert("toInteger", turns), makeInteger(127)), 23);
  return on("mul", value, convert("fromBits", exponent));
}

/** 1 / (1 + exp(-x)). */
export function logistic(x: Expression): Expression {
  return on("div", real(1), on("add", real(1), exponential(on("neg", x))));
}

/** tanh(x) = 1 - 2 / (1 + exp(2x)); near 0 by its series, where that would lose digits. NaN stays NaN. */
export function hyperbolicTangent(x: Expression): Expression {
  const far = on("sub", real(1), on("div", real(2), on("add", real(1), exponential(on("add", x, x)))));
  const square = on("mul", x, x);
  // x - x³/3 + 2x⁵/15 - 17x⁷/315 + 62x⁹/2835.
  const series = sumOfPowers(square, [62 / 2835, -17 / 315, 2 / 15, -1 / 3]);
  const near = on("add", x, on("mul", on("mul", series, square), x));
  return select(on("lt", on("abs", x), real(0.25)), near, far);
}

/** exp(x) with all that a float32 can be: 0, numbers without a leading 1, and infinity. */
export function accurateExponential(x: Expression): Expression {
  const bounded = within(x, -104, 89);
  const turns = on("nearest", on("mul", bounded, real(Math.LOG2E)));
  const high = on("sub", bounded, on("mul", turns, real(ln2High)));
  const rest = on("sub", high, on("mul", turns, real(ln2Low)));
  const value = on("add", on("add", on("mul", sumOfPowers(rest, coefficients), on("mul", rest, rest)), rest), real(1));
  // In two factors, as 2^128 and 2^-149 have no exponent of their own.
  const count = convert("toInteger", turns);
  const half = shiftBits("shr", count, 1);
  const power = (exponent: Expression) =>
    convert("fromBits", shiftBits("shl", on("add", exponent, makeInteger(127)), 23));
  return on("mul", on("mul", value, power(half)), power(on("sub", count, half)));
}

/** exp(x) - 1 for x below 0, or near it, without the loss of digits near 0. */
export function smallExponential(x: Expression): Expression {
  const series = sumOfPowers(x, [1 / 5040, 1 / 720, 1 / 120, 1 / 24, 1 / 6, 1 / 2, 1]);
  const isNear = on("lt", on("abs", x), real(0.25));
  return select(isNear, on("mul", series, x), on("sub", accurateExponential(x), real(1)));
}

/** Coefficients of (log(1 + x) - x + x²/2) / x³, from the highest power down. */
const logarithmCoefficients = [
  7.0376836292e-2, -1.151461031e-1, 1.167699874e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
  2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
];

/** log(x), within about 2 units in the last place. */
export function logarithm(x: Expression): Expression {
  // Numbers without a leading 1 get one.
  const isSmall = on("lt", x, real(2 ** -126));
  const bits = convert("bits", select(isSmall, on("mul", x, real(2 ** 23)), x));
  const raw = on("sub", shiftBits("shr", bits, 23), select(isSmall, makeInteger(126 + 23), makeInteger(126)));
  const mantissa = convert("fromBits", on("or", on("and", bits, makeInteger(0x7f_ffff)), makeInteger(0x3f00_0000)));
  const isLow = on("lt", mantissa, real(Math.SQRT1_2));
  const exponent = convert("toFloat", on("sub", raw, select(isLow, makeInteger(1), makeInteger(0))));
  const part = on("sub", select(isLow, on("add", mantissa, mantissa), mantissa), real(1));
  const square = on("mul", part, part);
  const series = sumOfPowers(part, logarithmCoefficients);
  const low = on(
    "sub",
    on("add", on("mul", on("mul", series, part), square), on("mul", exponent, real(ln2Low))),
    on("mul", square, real(0.5)),
  );
  const value = on("add", on("add", part, low), on("mul", exponent, real(ln2High)));
  const atEnds = select(on("eq", x, real(0)), real(Number.NEGATIVE_INFINITY), real(Number.NaN));
  const isPlain = on("and", on("gt", x, real(0)), on("lt", x, real(Number.POSITIVE_INFINITY)));
  const infinite = on("eq", x, real(Number.POSITIVE_INFINITY));
  return select(isPlain, value, select(infinite, x, atEnds));
}
