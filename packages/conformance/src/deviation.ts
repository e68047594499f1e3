/**
 * Deviations of a device's results from the expected ones, in numbers that add up over many examples: the share of elements
 * that differ, the greatest difference, and the mean of all, which shows a bias.
 */
import { elementAt } from "@nnhal/operations";
import type { OperandTypeName } from "@nnhal/types";

/**
 * Deviation of elements of one type from the expected ones. Differences are in steps: of integers and quantised elements 1; of
 * floats the unit in the last place of the greatest expected element of their tensor, or of 1 if all are less: a sum near 0 of
 * large terms has no more digits.
 */
export interface Deviation {
  readonly type: OperandTypeName;
  /** Number of compared elements: those whose expected value is finite and not arbitrary. */
  readonly elements: number;
  /** Number of elements that differ at all. */
  readonly differing: number;
  /** The greatest difference in either direction; 1e9 stands for all that is greater, and for NaN. */
  readonly largest: number;
  /** The sum of the signed differences, actual minus expected, without those of NaN and infinities. */
  readonly sum: number;
  /** The greatest part of its allowance that an element uses up; 1e9 stands for all that is greater. */
  readonly error: number;
}

/** Stands for all greater ones, and for any difference if none is allowed: JSON has no infinity. */
const most = 1e9;

/** The deviation of a tensor. `boundOf`: how far an element may be off; null: it is not compared. */
export function deviationOf(
  type: OperandTypeName,
  expected: Float64Array,
  actual: Float64Array,
  boundOf: (element: number) => number | null,
): Deviation {
  let [elements, differing, largest, sum, error] = [0, 0, 0, 0, 0];
  const step = stepOf(type, expected);
  for (let index = 0; index < expected.length; index++) {
    const wanted = elementAt(expected, index);
    const bound = boundOf(index);
    if (!Number.isFinite(wanted) || bound === null) continue;
    elements++;
    const difference = (actual[index] ?? Number.NaN) - wanted;
    if (difference === 0) continue;
    differing++;
    const distance = Number.isNaN(difference) ? Number.POSITIVE_INFINITY : Math.abs(difference);
    largest = Math.max(largest, Math.min(most, distance / step));
    error = Math.max(error, Math.min(most, distance / bound));
    if (Number.isFinite(distance)) sum += difference / step;
  }
  return { type, elements, differing, largest, sum, error };
}

/** The sum of two deviations of elements of one type. */
export function addDeviations(a: Deviation, b: Deviation): Deviation {
  return {
    type: a.type,
    elements: a.elements + b.elements,
    differing: a.differing + b.differing,
    largest: Math.max(a.largest, b.largest),
    sum: a.sum + b.sum,
    error: Math.max(a.error, b.error),
  };
}

/** Number of binary digits that floats have after the leading one. */
const digitsOf: Readonly<Partial<Record<OperandTypeName, number>>> = {
  FLOAT32: 23,
  TENSOR_FLOAT32: 23,
  FLOAT16: 10,
  TENSOR_FLOAT16: 10,
};

/** The step of the elements of a tensor. */
function stepOf(type: OperandTypeName, expected: Float64Array): number {
  const digits = digitsOf[type];
  if (digits === undefined) return 1;
  let greatest = 1;
  for (const element of expected) if (Number.isFinite(element)) greatest = Math.max(greatest, Math.abs(element));
  return 2 ** (Math.floor(Math.log2(greatest)) - digits);
}
