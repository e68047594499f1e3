/**
 * Functions of quantised elements by a table. Of 8-bit elements the operators compute each result, in numbers of 32 bits. Of 16-bit
 * elements they compute 513 points of the function, 128 elements apart, and interpolate linearly between them, so that their results
 * differ from those of the function where it bends.
 */
import { clamp, roundHalfAway } from "../fixed-point.ts";
import type { Phase } from "../phases.ts";
import { integerRange, type TensorInfo } from "../tensor.ts";
import type { AnyOutput, AnyTensor } from "./_elements.tflite.ts";
import { numbersIn } from "./_integers.tflite.ts";

const INTERVALS = 512;

/** A function of elements to elements. */
export type Table = (element: number) => number;

/** The quantisation of a side of a table. */
type Quantisation = Pick<TensorInfo, "scale" | "zeroPoint">;

/**
 * The table of a function of real numbers. Each point is moved by half the error that interpolation makes in the middle of the interval
 * that begins there, unless results are outside the range of 16 bits.
 */
export function tableOf(input: Quantisation, output: Quantisation, transform: (value: number) => number): Table {
  const [least, greatest] = integerRange("TENSOR_QUANT16_SYMM");
  const first = (least - input.zeroPoint) * input.scale;
  const last = (greatest - input.zeroPoint) * input.scale;
  const step = (last - first) / INTERVALS;
  const perUnit = (greatest - least + 1) / ((greatest - least) * output.scale);
  const at = (place: number) => transform(first + place * step) * perUnit;
  const points = Int16Array.from({ length: INTERVALS + 1 }, (_, place) => {
    const point = roundHalfAway(place === INTERVALS ? transform(last) * perUnit : at(place));
    if (place === INTERVALS) return clamp(point, least, greatest);
    const next = at(place + 1);
    const error = roundHalfAway((next + point) / 2) - roundHalfAway(at(place + 0.5));
    const correction = roundHalfAway(error / 2);
    const [here, there] = [clamp(point, least, greatest), clamp(next, least, greatest)];
    // Where results leave the range, or are not finite, a correction may be greater than the step that it is to correct.
    const isInside = here === point && there === next;
    return isInside || Math.abs(correction) <= Math.abs(there - here)
      ? clamp(point - correction, least, greatest)
      : here;
  });
  return (element) => {
    const place = (element >> 7) + INTERVALS / 2;
    const point = points[place];
    return point + (((points[place + 1] - point) * (element & 127) + 64) >> 7);
  };
}

/**
 * The table of a function of real numbers, for 8-bit elements. Real numbers have 32 bits, and are multiplied with 1 / scale. `round` makes
 * integers of them. Default: halves away from 0.
 */
export function byteTableOf(
  input: TensorInfo,
  output: TensorInfo,
  transform: (value: number) => number,
  round: (value: number) => number = roundHalfAway,
): Table {
  const [first, last] = integerRange(input.type);
  const [least, greatest] = integerRange(output.type);
  const { fround } = Math;
  const [scale, perUnit] = [fround(input.scale), fround(1 / fround(output.scale))];
  const results = Int16Array.from({ length: last - first + 1 }, (_, place) => {
    const real = fround(transform(fround(scale * (first + place - input.zeroPoint))));
    return clamp(round(fround(real * perUnit)) + output.zeroPoint, least, greatest);
  });
  return (element) => results[element - first];
}

/** Writes the result of a table for each element. */
export function mapByTable(input: AnyTensor, output: AnyOutput, table: Table): Phase {
  const [from, to] = [numbersIn(input.data), numbersIn(output.data)];
  return {
    units: to.length,
    compute(first, end) {
      for (let index = first; index < end; index++) to[index] = table(from[index]);
    },
  };
}
