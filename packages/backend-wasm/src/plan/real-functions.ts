/** Logarithms, powers and angles as formulas of routines, with more digits than a float32 has. */
import type { Builder, Value } from "./builder.ts";
import { calc, choose, convertFormula, type Formula, integer, realNumber } from "./formula.ts";
import type { Place, Routine } from "./routine.ts";

/** The bits of floats as integers: the same region as another type. */
export function bitsOf(value: Value): Value {
  return { ...value, type: "i32" };
}

/** A sum of powers of x, whose coefficients go from the highest down. */
function polynomial(x: Formula, coefficients: readonly number[]): Formula {
  const [first = 0, ...rest] = coefficients;
  let sum: Formula = realNumber(first);
  for (const coefficient of rest) sum = calc("add", calc("mul", sum, x), coefficient);
  return sum;
}

/** 2 / (2n + 1) from n = count down to 0: of the series of log((1 + s) / (1 - s)) in s². */
const logarithmSeries = Array.from({ length: 9 }, (_, place) => 2 / (2 * (8 - place) + 1));

/** The logarithm of a float32 above 0 that has these bits; those without a leading 1 count as 0 digits. */
export function logarithmOfBits(routine: Routine, bits: Formula): Formula {
  const mantissa = routine.local(
    calc("add", calc("mul", convertFormula("toReal", calc("and", bits, 0x7f_ffff)), 2 ** -23), realNumber(1)),
  );
  const exponent = routine.local(calc("sub", calc("and", calc("shr", bits, 23), 0xff), 127));
  // Around 1, where the series is short.
  routine.when(calc("gt", mantissa, realNumber(Math.SQRT2)), () => {
    routine.set(mantissa, calc("mul", mantissa, 0.5));
    routine.set(exponent, calc("add", exponent, 1));
  });
  const s = routine.local(calc("div", calc("sub", mantissa, 1), calc("add", mantissa, 1)));
  const square = routine.local(calc("mul", s, s));
  return calc(
    "add",
    calc("mul", s, polynomial(square, logarithmSeries)),
    calc("mul", convertFormula("toReal", exponent), Math.LN2),
  );
}

/** 2^n for n from -80 to 80, which are floats of 32 bits. */
const mostPower = 80;

/** A table for `exponentialOf`. */
export function powersOfTwo(builder: Builder): Value {
  const table = Float32Array.from({ length: 2 * mostPower + 1 }, (_, place) => 2 ** (place - mostPower));
  return { region: builder.constant(table), type: "f32", dimensions: [table.length] };
}

const exponentialSeries = (() => {
  const coefficients = [1];
  for (let n = 1; n <= 12; n++) coefficients.unshift((coefficients[0] ?? 1) / n);
  return coefficients;
})();

/** exp(x): beyond the range of a float32, 0 or more than the greatest. NaN stays NaN. */
export function exponentialOf(routine: Routine, powers: Place, x: Formula): Formula {
  const bounded = routine.local(calc("min", calc("max", x, -106), 90));
  const turns = routine.local(convertFormula("toWhole", calc("nearest", calc("mul", bounded, Math.LOG2E))));
  const rest = routine.local(calc("sub", bounded, calc("mul", convertFormula("toReal", turns), Math.LN2)));
  const half = routine.local(calc("shr", turns, 1));
  const power = calc(
    "mul",
    powers.at(calc("add", half, mostPower)),
    powers.at(calc("add", calc("sub", turns, half), mostPower)),
  );
  return calc("mul", polynomial(rest, exponentialSeries), power);
}

/** Places of the table for angles: one for each exponent of a float. */
const exponents = 255;

/**
 * For each exponent of a float32 the angle of the lowest bit of its mantissa, less whole turns, in three floats of descending size. So the angle of a float is a
 * whole number times an entry, however large it is.
 */
export function anglesOfBits(builder: Builder): Value {
  const table = new Float32Array(3 * exponents);
  for (let exponent = 0; exponent < exponents; exponent++) {
    const bit = 2 ** (Math.max(1, exponent) - 150);
    let angle = bit < 1 ? bit : Math.atan2(Math.sin(bit), Math.cos(bit));
    for (let part = 0; part < 3; part++) {
      table[3 * exponent + part] = angle;
      angle -= table[3 * exponent + part] ?? 0;
    }
  }
  return { region: builder.constant(table), type: "f32", dimensions: [table.length] };
}

/** π/2 in three parts; the first two have 33 bits. */
const halfTurn = [1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21] as const;

const sineSeries = [1 / 6227020800, -1 / 39916800, 1 / 362880, -1 / 5040, 1 / 120, -1 / 6, 1];
const cosineSeries = [1 / 479001600, -1 / 3628800, 1 / 40320, -1 / 720, 1 / 24, -1 / 2, 1];

/** The sine of a float32 that has these bits, or of as many quarters of a turn more. NaN and infinity make NaN. */
export function sineOfBits(routine: Routine, angles: Place, bits: Formula, quarters: number): Formula {
  const exponent = routine.local(calc("and", calc("shr", bits, 23), 0xff));
  const result = routine.local(realNumber(Number.NaN));
  routine.when(calc("lt", exponent, exponents), () => {
    const leading = choose(calc("eq", exponent, 0), integer(0), integer(1 << 23));
    const mantissa = routine.local(convertFormula("toReal", calc("or", calc("and", bits, 0x7f_ffff), leading)));
    const at = (part: number) => angles.at(calc("add", calc("mul", exponent, 3), part));
    const angle = routine.local(calc("mul", mantissa, calc("add", at(0), calc("add", at(1), at(2)))));
    const count = routine.local(calc("nearest", calc("mul", angle, 2 / Math.PI)));
    const rest = routine.local(calc("sub", angle, calc("mul", count, halfTurn[0])));
    routine.set(rest, calc("sub", rest, calc("mul", count, halfTurn[1])));
    routine.set(rest, calc("sub", rest, calc("mul", count, halfTurn[2])));
    const square = routine.local(calc("mul", rest, rest));
    const negative = calc("lt", bits, 0);
    // sin(-x) = -sin(x); cos(-x) = cos(x).
    const turn = calc("add", convertFormula("toWhole", count), quarters);
    const place = routine.local(calc("and", turn, 3));
    const sine = calc("mul", rest, polynomial(square, sineSeries));
    const value = choose(calc("and", place, 1), polynomial(square, cosineSeries), sine);
    const isBelow = calc("xor", calc("shr", place, 1), quarters % 2 === 0 ? negative : integer(0));
    routine.set(result, choose(isBelow, calc("neg", value), value));
  });
  return result;
}
