/**
 * LOGISTIC and TANH of 16-bit elements, in the integers of the operators. If the input's scale is a power of 2 that suits them, in fixed
 * point; else by 256 points of the logistic function, 1/24 apart, as fractions of 2^16, with linear interpolation between them: TANH is
 * 2 · LOGISTIC(2x) - 1.
 */
import { clamp, roundHalfAway } from "../fixed-point.ts";
import { fixedPoint16 } from "../fixed-point-functions.ts";
import type { Phase } from "../phases.ts";
import type { AnyOutput, AnyTensor } from "./_elements.tflite.ts";
import { ensureFractions } from "./_fractions.tflite.ts";
import { numbersIn } from "./_integers.tflite.ts";

const INTEGER_BITS = 3;
const FIXED_SCALE = 2 ** -(15 - INTEGER_BITS);
const POINTS = 256;
const points = Int32Array.from({ length: POINTS }, (_, place) =>
  Math.min(roundHalfAway(2 ** 16 / (1 + Math.exp(-place / 24))), 2 ** 16 - 1),
);

/** The part that differs between the two. */
interface Squashing {
  readonly computeFixed: (value: number, integerBits: number) => number;
  /** The multiples of 2^-12 that the input's scale may be for fixed point. */
  readonly fixedFactors: readonly number[];
  /** Bits of a scaled element below those that name a point. */
  readonly fractionBits: number;
  /** The interpolated value beyond the last point. */
  readonly most: number;
  /** The result, from the interpolated value of an element and its sign. */
  readonly result: (interpolated: number, isNegative: boolean) => number;
}

/** 16-bit fractions of the logistic function. */
export const logistic16: Squashing = {
  computeFixed: fixedPoint16.logistic,
  fixedFactors: [1],
  fractionBits: 9,
  most: 0x7fff * 2 ** 10,
  result: (interpolated, isNegative) => (isNegative ? 2 ** 25 - interpolated + 511 : interpolated + 512) >> 10,
};

/** 16-bit fractions of the hyperbolic tangent. */
export const tanh16: Squashing = {
  computeFixed: fixedPoint16.tanh,
  fixedFactors: [1, 2],
  fractionBits: 8,
  most: 0xffff * 2 ** 8,
  result: (interpolated, isNegative) => (isNegative ? 2 ** 23 - interpolated + 127 : interpolated - 2 ** 23 + 128) >> 8,
};

/** Computes the function of each element. Throws an OperationError unless the output has scale 2^-15. */
export function squash(input: AnyTensor, output: AnyOutput, squashing: Squashing): Phase {
  ensureFractions(output);
  const compute = functionOf(input.scale, squashing);
  const [from, to] = [numbersIn(input.data), numbersIn(output.data)];
  return {
    units: to.length,
    compute(first, end) {
      for (let index = first; index < end; index++) to[index] = compute(from[index]);
    },
  };
}

function functionOf(
  scale: number,
  { computeFixed: fixed, fixedFactors, fractionBits, most, result }: Squashing,
): (element: number) => number {
  const factor = fixedFactors.find((each) => Math.abs(Math.log2(scale / (each * FIXED_SCALE))) < 1e-3);
  if (factor !== undefined) return (element) => fixed(clamp(element * factor, -32768, 32767), INTEGER_BITS);
  const [multiplier, shift] = computeScaling(scale);
  const half = shift > 0 ? 2 ** (shift - 1) : 0;
  return (element) => {
    const scaled = Math.floor((element * multiplier + half) / 2 ** shift);
    const magnitude = Math.abs(scaled);
    const place = Math.floor(magnitude / 2 ** fractionBits);
    if (place >= POINTS - 1) return result(most, scaled < 0);
    const step = points[place + 1] - points[place];
    return result(points[place] * 2 ** fractionBits + (magnitude % 2 ** fractionBits) * step, scaled < 0);
  };
}

/** The factor from input elements to steps of 1 / (3 · 2^12), as multiplier / 2^shift with a multiplier of at most 15 bits. */
function computeScaling(scale: number): readonly [multiplier: number, shift: number] {
  let multiplier = scale * 3 * 4096;
  let shift = 0;
  while (multiplier <= 32767 / 2 && shift <= 30) {
    multiplier *= 2;
    shift++;
  }
  return [Math.trunc(multiplier), shift];
}
