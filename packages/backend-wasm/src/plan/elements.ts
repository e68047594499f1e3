/** Elements as real numbers in routines, and back; and products with the multipliers of fixed point. */
import { integerRange, isFloat, type TensorInfo } from "@nnhal/operations";
import { quantiseMultiplier } from "@nnhal/operations/compiling";
import type { Term } from "./formula.ts";
import { calc, choose, convertFormula, type Formula, realNumber } from "./formula.ts";
import type { Place, Routine } from "./routine.ts";

/** The nearest integer, halves away from zero. */
export function awayFromZero(value: Formula): Formula {
  const cut = calc("trunc", value);
  const isFar = calc("ge", calc("abs", calc("sub", value, cut)), 0.5);
  const one = choose(calc("lt", value, 0), realNumber(-1), realNumber(1));
  return choose(isFar, calc("add", cut, one), cut);
}

/** A real number within bounds; NaN becomes the least. */
export function limit(value: Formula, least: number, greatest: number): Formula {
  const high = choose(calc("gt", value, greatest), realNumber(greatest), value);
  return choose(calc("ge", high, least), high, realNumber(least));
}

/** The element at an index as a real number: (element - zero point) · scale if it is quantised. */
export function realElement(place: Place, { type, scale, zeroPoint }: TensorInfo, index: Term): Formula {
  const element = place.at(index);
  if (isFloat(type)) return element;
  return calc("mul", convertFormula("toReal", zeroPoint === 0 ? element : calc("sub", element, zeroPoint)), scale);
}

/** Stores a real number as an element; quantised ones are the nearest, halves away from zero, within the type. */
export function storeReal(
  routine: Routine,
  place: Place,
  { type, scale, zeroPoint }: TensorInfo,
  index: Term,
  value: Formula,
  bounds?: readonly [least: number, greatest: number],
): void {
  if (isFloat(type)) {
    routine.store(place, index, value);
    return;
  }
  const [least, greatest] = bounds ?? integerRange(type);
  const steps = routine.local(calc("div", value, scale));
  const rounded = routine.local(calc("add", awayFromZero(steps), zeroPoint));
  routine.store(place, index, limit(rounded, least, greatest));
}

/** A whole number of at most 17 bits times a multiplier, rounded twice as the reference does; beyond 32 bits it saturates. */
export function fixedProduct(routine: Routine, value: Formula, multiplier: number): Formula {
  const { mantissa, shift } = quantiseMultiplier(multiplier);
  const shifted = shift > 0 ? limit(calc("mul", value, 2 ** shift), -(2 ** 31), 2 ** 31 - 1) : value;
  // Exact: a factor of 17 bits, one of 31, and powers of two.
  const high = calc("floor", calc("add", calc("mul", shifted, mantissa / 2 ** 31), 0.5));
  if (shift >= 0) return routine.local(high);
  return routine.local(awayFromZero(routine.local(calc("mul", routine.local(high), 2 ** shift))));
}
