/** The difference of a tensor from the expected one, in numbers. */
import {
  type AnyOperandType,
  decodeTensorData,
  elementAt,
  elementFactsOf,
  integerRange,
  isExtensionType,
  sameShape,
  type TensorData,
} from "@nnhal/operations";
import { type Bound, type Compared, hasFloats, type JudgedOperand } from "./allowance.ts";
import type { TensorValue } from "./prepared-part.ts";
import type { JudgeValue } from "./values.ts";

/** The least and the greatest of the finite elements, in real numbers; undefined if there are none. */
export interface ValueRange {
  readonly least: number;
  readonly greatest: number;
}

/**
 * Differences of the elements of one tensor, or of several of one kind. A step is 1 of integers and of quantised elements, and of floats the
 * unit in the last place of the root mean square of the expected elements.
 */
export interface Difference {
  readonly isFloat: boolean;
  /** True if float16 is its precision. */
  readonly isHalf: boolean;
  readonly isQuantised: boolean;
  /** Real numbers in a step. */
  readonly step: number;
  /** Elements that were compared. */
  readonly count: number;
  /** Those that differ at all. */
  readonly differing: number;
  /** The greatest difference, in steps and in real numbers. */
  readonly largest: number;
  readonly largestReal: number;
  /** The element with the greatest difference, and its two values in real numbers; undefined if none differs. */
  readonly worst: { readonly element: number; readonly expected: number; readonly actual: number } | undefined;
  /** The mean of the signed differences in steps, actual minus expected: a bias. */
  readonly mean: number;
  /** The mean of their magnitudes, in steps. */
  readonly meanMagnitude: number;
  /** The greatest part of its bound that an element, or the mean of all, uses up: above 1 it is wrong. */
  readonly excess: number;
  /** Signal-to-noise ratio in decibels: Infinity if nothing differs. */
  readonly signalToNoise: number;
  /** The cosine of the angle between both: 1 if they point the same way. */
  readonly cosine: number;
  /** Elements of which one is NaN or infinite and the other is not the same. */
  readonly unusual: number;
  /** NaN and infinite elements that were expected, and that there are. */
  readonly unusualExpected: number;
  readonly unusualActual: number;
  /** Shares of quantised elements at the ends of their type; of expected ones in another type beyond the ends. */
  readonly saturatedExpected: number;
  readonly saturatedActual: number;
  readonly expectedRange: ValueRange | undefined;
  readonly actualRange: ValueRange | undefined;
  /** Real numbers that the quantisation can hold; undefined of floats and plain integers. */
  readonly possibleRange: ValueRange | undefined;
  /** The actual shape, if it is not the expected one: nothing else was compared then. */
  readonly otherShape: readonly number[] | undefined;
  /** Sums from which the others follow, so that differences can be added. */
  readonly sums: Sums;
}

interface Sums {
  readonly signed: number;
  readonly magnitude: number;
  readonly signal: number;
  readonly noise: number;
  readonly actual: number;
  readonly product: number;
  readonly saturatedExpected: number;
  readonly saturatedActual: number;
}

const noSums: Sums = {
  signed: 0,
  magnitude: 0,
  signal: 0,
  noise: 0,
  actual: 0,
  product: 0,
  saturatedExpected: 0,
  saturatedActual: 0,
};

/** Fewer elements say nothing about a mean. */
const LEAST_FOR_BIAS = 64;

/**
 * Compares a tensor with the expected one. `boundFor`: how far elements may be off, given the root mean square of the expected ones. Where
 * the expected one was recorded in another type, its elements count as they are, and differ if they are more than half a step off.
 */
export function compareTensors(
  tensor: Compared,
  expected: JudgeValue,
  actual: TensorValue,
  boundFor: (rootMeanSquare: number) => Bound,
): Difference {
  const { type, scale, zeroPoint, isRelaxed } = tensor;
  const isFloat = hasFloats(type);
  const isHalf = type === "TENSOR_FLOAT16" || type === "FLOAT16" || (isFloat && isRelaxed);
  const isQuantised = !isExtensionType(type) && scale > 0;
  const range = isQuantised ? integerRange(type) : undefined;
  const [wanted, found] = [expectedElements(tensor, expected), elementsOf(type, actual)];
  const least = isFloat || expected.recorded === undefined ? 0 : 0.5;
  const isOther = !sameShape(expected.dimensions, actual.dimensions) || wanted.length !== found.length;
  const unit = isQuantised ? scale : 1;
  const square = isFloat ? meanSquareOf(wanted) : 0;
  const rootMeanSquare = Math.sqrt(square);
  const bound = boundFor(rootMeanSquare);
  const step = isFloat ? unitOf(rootMeanSquare, isHalf) : unit;
  const real = (element: number) => (isQuantised ? (element - zeroPoint) * scale : element);
  let [count, differing, largest, most, unusual, unusualExpected, unusualActual] = [0, 0, 0, 0, 0, 0, 0];
  let worst = -1;
  const sums = { ...noSums };
  if (!isOther) {
    for (let index = 0; index < wanted.length; index++) {
      const [one, other] = [elementAt(wanted, index), elementAt(found, index)];
      count++;
      if (!Number.isFinite(one) || !Number.isFinite(other)) {
        if (!Number.isFinite(one)) unusualExpected++;
        if (!Number.isFinite(other)) unusualActual++;
        if (!Object.is(one, other)) {
          unusual++;
          differing++;
          if (worst < 0) worst = index;
        }
        continue;
      }
      if (range !== undefined) {
        // Exact elements count if they are beyond the ends; the type has no element for them.
        if (one <= range[0] - least || one >= range[1] + least) sums.saturatedExpected++;
        if (other === range[0] || other === range[1]) sums.saturatedActual++;
      }
      const [a, b] = [real(one), real(other)];
      sums.signal += a * a;
      sums.actual += b * b;
      sums.product += a * b;
      const difference = other - one;
      if (difference === 0) continue;
      const distance = isFloat ? Math.abs(difference) / step : Math.abs(difference);
      if (distance > least) differing++;
      if (distance > largest) [largest, worst] = [distance, index];
      const allowed = bound.absolute + bound.relative * Math.abs(one);
      most = Math.max(most, allowed === 0 ? Number.POSITIVE_INFINITY : Math.abs(difference) / allowed);
      sums.signed += isFloat ? difference / step : difference;
      sums.magnitude += distance;
      sums.noise += (b - a) * (b - a);
    }
  }
  const bias = isQuantised && count >= LEAST_FOR_BIAS ? Math.abs(sums.signed / count) / bound.bias : 0;
  return {
    excess: isOther || unusual > 0 ? Number.POSITIVE_INFINITY : Math.max(most, bias),
    isFloat,
    isHalf,
    isQuantised,
    step,
    largest,
    largestReal: largest * step,
    worst:
      worst < 0
        ? undefined
        : { element: worst, expected: real(elementAt(wanted, worst)), actual: real(elementAt(found, worst)) },
    unusual,
    unusualExpected,
    unusualActual,
    expectedRange: rangeOf(wanted, real),
    actualRange: rangeOf(found, real),
    possibleRange: range && { least: real(range[0]), greatest: real(range[1]) },
    otherShape: isOther ? actual.dimensions : undefined,
    ...fromSums(sums, count, differing),
  };
}

/** The expected elements in the units of a tensor: of those that were recorded in another type, between its steps too. */
function expectedElements(tensor: Compared, { recorded, ...own }: JudgeValue): ArrayLike<number> {
  if (recorded?.as === undefined) return elementsOf(tensor.type, own);
  const real = realValuesOf(recorded.as, recorded);
  return tensor.scale > 0 ? real.map((element) => element / tensor.scale + tensor.zeroPoint) : real;
}

/** The elements of a tensor in real numbers. */
export function realValuesOf({ type, scale, zeroPoint }: Compared, value: TensorValue): Float64Array {
  return Float64Array.from(elementsOf(type, value), (element) => (scale > 0 ? (element - zeroPoint) * scale : element));
}

/** The sizes of the elements of a tensor in real numbers. */
export function sizesOf({ type, scale, zeroPoint }: Compared, value: TensorValue): JudgedOperand {
  const elements = elementsOf(type, value);
  const real = (element: number) => (scale > 0 ? (element - zeroPoint) * scale : element);
  let [sum, greatest] = [0, 0];
  for (let index = 0; index < elements.length; index++) {
    const element = Math.abs(real(elementAt(elements, index)));
    if (!Number.isFinite(element)) continue;
    sum += element * element;
    if (element > greatest) greatest = element;
  }
  return { dimensions: value.dimensions, rootMeanSquare: Math.sqrt(sum / Math.max(1, elements.length)), greatest };
}

/** The difference of the same tensor over several runs. */
export function addDifferences(a: Difference, b: Difference): Difference {
  const sums = { ...noSums };
  // The names are those of the sums.
  for (const name of Object.keys(sums) as (keyof Sums)[]) sums[name] = a.sums[name] + b.sums[name];
  const larger = b.largestReal > a.largestReal || (a.worst === undefined && b.worst !== undefined) ? b : a;
  return {
    ...larger,
    excess: Math.max(a.excess, b.excess),
    unusual: a.unusual + b.unusual,
    unusualExpected: a.unusualExpected + b.unusualExpected,
    unusualActual: a.unusualActual + b.unusualActual,
    expectedRange: unite(a.expectedRange, b.expectedRange),
    actualRange: unite(a.actualRange, b.actualRange),
    otherShape: a.otherShape ?? b.otherShape,
    ...fromSums(sums, a.count + b.count, a.differing + b.differing),
  };
}

function fromSums(sums: Sums, count: number, differing: number) {
  const each = (sum: number) => (count === 0 ? 0 : sum / count);
  const lengths = Math.sqrt(sums.signal) * Math.sqrt(sums.actual);
  return {
    sums,
    count,
    differing,
    mean: each(sums.signed),
    meanMagnitude: each(sums.magnitude),
    signalToNoise: sums.noise === 0 ? Number.POSITIVE_INFINITY : 10 * Math.log10(sums.signal / sums.noise),
    cosine: lengths === 0 ? (sums.noise === 0 ? 1 : 0) : sums.product / lengths,
    saturatedExpected: each(sums.saturatedExpected),
    saturatedActual: each(sums.saturatedActual),
  };
}

/** The elements as numbers. Those of 64 bits may lose digits; bytes stand for elements of other kinds. */
function elementsOf(type: AnyOperandType, { bytes }: TensorValue): TensorData | Uint8Array | Float64Array {
  const { elementSize } = elementFactsOf(type);
  if (isExtensionType(type)) {
    const { array } = type;
    const aligned = bytes.byteOffset % array.BYTES_PER_ELEMENT === 0 ? bytes : bytes.slice();
    const whole = Math.floor(bytes.length / array.BYTES_PER_ELEMENT);
    // Constructors of typed arrays take a buffer, and all elements of theirs are numbers or bigints.
    const elements: ArrayLike<number | bigint> = new array(aligned.buffer, aligned.byteOffset, whole);
    return Float64Array.from(elements, Number);
  }
  return decodeTensorData(type, bytes, Math.floor(bytes.length / elementSize));
}

function meanSquareOf(elements: ArrayLike<number>): number {
  let [sum, count] = [0, 0];
  for (let index = 0; index < elements.length; index++) {
    const element = elementAt(elements, index);
    if (!Number.isFinite(element)) continue;
    sum += element * element;
    count++;
  }
  return count === 0 ? 0 : sum / count;
}

/** The unit in the last place of a number, at least that of 2^-100. */
function unitOf(size: number, isHalf: boolean): number {
  const exponent = Math.floor(Math.log2(Math.max(size, 2 ** -100)));
  return 2 ** (exponent - (isHalf ? 10 : 23));
}

function rangeOf(elements: ArrayLike<number>, real: (element: number) => number): ValueRange | undefined {
  let [least, greatest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let index = 0; index < elements.length; index++) {
    const element = elementAt(elements, index);
    if (!Number.isFinite(element)) continue;
    if (element < least) least = element;
    if (element > greatest) greatest = element;
  }
  return least > greatest ? undefined : { least: real(least), greatest: real(greatest) };
}

function unite(a: ValueRange | undefined, b: ValueRange | undefined): ValueRange | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return { least: Math.min(a.least, b.least), greatest: Math.max(a.greatest, b.greatest) };
}
