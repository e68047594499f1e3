/**
 * LOGISTIC and TANH of 16-bit elements, in the integers of the operators: 256 points of the logistic function, 1/24 apart, as fractions
 * of 2^16, with linear interpolation between them. TANH is 2 · LOGISTIC(2x) - 1.
 */
import { roundHalfAway, type TensorData } from "@nnhal/operations";
import { type AnyOutput, type AnyTensor, inParts } from "../_elementwise.ts";

const POINTS = 256;
const points = Int32Array.from({ length: POINTS }, (_, place) =>
  Math.min(roundHalfAway(2 ** 16 / (1 + Math.exp(-place / 24))), 2 ** 16 - 1),
);

/** The part that differs between the two. */
interface Squashing {
  /** Bits of a scaled element below those that name a point. */
  readonly fractionBits: number;
  /** The least exponent of an input scale 2^exponent that is not scaled by a multiplier, and the greatest. */
  readonly exactScales: readonly [least: number, greatest: number];
  /** The result, from the interpolated value of an element and its sign. */
  readonly result: (interpolated: number, isNegative: boolean) => number;
}

/** 16-bit fractions of the logistic function. */
export const logistic16: Squashing = {
  fractionBits: 9,
  exactScales: [-12, -12],
  result: (interpolated, isNegative) => (isNegative ? 2 ** 25 - interpolated + 511 : interpolated + 512) >> 10,
};

/** 16-bit fractions of the hyperbolic tangent. */
export const tanh16: Squashing = {
  fractionBits: 8,
  exactScales: [-12, -11],
  result: (interpolated, isNegative) => (isNegative ? 2 ** 23 - interpolated + 127 : interpolated - 2 ** 23 + 128) >> 8,
};

/** Computes the function of each element; the output has scale 2^-15. */
export function* squash(
  input: AnyTensor,
  output: AnyOutput,
  { fractionBits, exactScales, result }: Squashing,
): Generator<void, void> {
  const [multiplier, shift] = scaling(input.scale, exactScales);
  const half = shift > 0 ? 2 ** (shift - 1) : 0;
  const [from, to] = [input.data as TensorData, output.data as TensorData];
  // Beyond the last point LOGISTIC is 1 - 2^-15, and TANH is nearly so.
  const most = fractionBits === 9 ? 0x7fff * 2 ** 10 : 0xffff * 2 ** 8;
  yield* inParts(to.length, (first, end) => {
    for (let index = first; index < end; index++) {
      const scaled = Math.floor((from[index] * multiplier + half) / 2 ** shift);
      const magnitude = Math.abs(scaled);
      const place = magnitude >> fractionBits;
      const point = points[place];
      const interpolated =
        place >= POINTS - 1
          ? most
          : point * 2 ** fractionBits + (magnitude % 2 ** fractionBits) * (points[place + 1] - point);
      to[index] = result(interpolated, scaled < 0);
    }
  });
}

/** The factor from input elements to steps of 1 / (3 · 2^12), as multiplier / 2^shift with a multiplier of 15 bits if it is rounded. */
function scaling(scale: number, [least, greatest]: readonly [number, number]): readonly [number, number] {
  const exponent = Math.log2(scale);
  const nearest = Math.round(exponent);
  if (Math.abs(exponent - nearest) < 1e-3 && nearest >= least && nearest <= greatest)
    return [3 * 2 ** (nearest + 12), 0];
  let multiplier = scale * 3 * 4096;
  let shift = 0;
  while (multiplier <= 32767 / 2 && shift <= 30) {
    multiplier *= 2;
    shift++;
  }
  return [Math.trunc(multiplier), shift];
}
