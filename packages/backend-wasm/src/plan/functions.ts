/** exp and its kin as expressions of floats. */
import { converted, type Expression, on, real, shifted, whole, within } from "./expression.ts";

/** ln 2 in two parts, of which products with small whole numbers are exact for the first. */
const ln2High = 0.693359375;
const ln2Low = -2.1219444e-4;

/** Coefficients of (exp(r) - 1 - r) / r² for |r| ≤ ln 2 / 2, from the highest power down. */
const coefficients = [
  1.98756915e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1,
];

/**
 * exp(x), within about 2 units in the last place: x = n · ln 2 + r, a polynomial in r, and n into the exponent. Below -87 the result is that of
 * -87, about 1e-38; above 88 that of 88. NaN stays NaN.
 */
export function exponential(x: Expression): Expression {
  const bounded = within(x, -87, 88);
  const turns = on("nearest", on("mul", bounded, real(Math.LOG2E)));
  const high = on("sub", bounded, on("mul", turns, real(ln2High)));
  const rest = on("sub", high, on("mul", turns, real(ln2Low)));
  const [first = 0, ...others] = coefficients;
  let series: Expression = real(first);
  for (const coefficient of others) series = on("add", on("mul", series, rest), real(coefficient));
  const value = on("add", on("add", on("mul", series, on("mul", rest, rest)), rest), real(1));
  const exponent = shifted("shl", on("add", converted("toInteger", turns), whole(127)), 23);
  return on("mul", value, converted("fromBits", exponent));
}

/** 1 / (1 + exp(-x)). */
export function logistic(x: Expression): Expression {
  return on("div", real(1), on("add", real(1), exponential(on("neg", x))));
}

/** tanh(x) = 1 - 2 / (1 + exp(2x)); near 0 by its series, where that would lose digits. NaN stays NaN. */
export function hyperbolicTangent(
  x: Expression,
  select: (truth: Expression, yes: Expression, no: Expression) => Expression,
): Expression {
  const far = on("sub", real(1), on("div", real(2), on("add", real(1), exponential(on("add", x, x)))));
  const square = on("mul", x, x);
  // x - x³/3 + 2x⁵/15 - 17x⁷/315 + 62x⁹/2835.
  let series: Expression = real(62 / 2835);
  for (const coefficient of [-17 / 315, 2 / 15, -1 / 3])
    series = on("add", on("mul", series, square), real(coefficient));
  const near = on("add", x, on("mul", on("mul", series, square), x));
  return select(on("lt", on("abs", x), real(0.25)), near, far);
}
