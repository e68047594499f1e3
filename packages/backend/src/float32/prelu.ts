/**
 * PRELU of 8 bits for engines that compute in float32, with the results of the HAL's fixed-point arithmetic: an estimate that is off by one
 * step at most, and the products at which the steps of the reference begin.
 */

import { integerRange, preluSteps, type TensorInfo } from "@nnhal/operations";
import { GREATEST_FLOAT } from "./products.ts";

/**
 * Numbers such that, for an element x of the input and a of alpha, each less its zero point,
 *
 *     estimate = x · a · perProduct, rounded and within leastSteps and greatestSteps
 *     place = estimate − leastSteps
 *     below 0: estimate + (x · a ≥ starts[place + 1] ? 1 : 0) − (x · a < starts[place] ? 1 : 0), in steps of the output
 *     else: positives[stored element − least]
 *
 * is exact in float32. `starts` has 257 numbers, `positives` 256.
 */
export interface Float32Prelu {
  /** The least element of the input's type. */
  readonly least: number;
  /** Results as the output's type stores them. */
  readonly positives: Float32Array;
  readonly perProduct: number;
  readonly leastSteps: number;
  readonly greatestSteps: number;
  /** The least product that makes each number of steps, from the least one. */
  readonly starts: Float32Array;
}

/** More than the magnitude of each product of two elements of 8 bits. */
const BEYOND = 2 ** 17;

/** The numbers for the quantisations of the operands. */
export function float32Prelu(input: TensorInfo, alpha: TensorInfo, output: TensorInfo): Float32Prelu {
  const { positive, negative, perProduct } = preluSteps(input, alpha, output);
  const [least] = integerRange(input.type);
  const [lowest, highest] = integerRange(output.type);
  const store = (steps: number) => Math.min(highest, Math.max(lowest, steps + output.zeroPoint));
  const leastSteps = lowest - output.zeroPoint;
  return {
    least,
    positives: Float32Array.from({ length: 256 }, (_, place) =>
      store(positive(Math.max(0, place + least - input.zeroPoint))),
    ),
    perProduct: Math.min(perProduct, GREATEST_FLOAT),
    leastSteps,
    greatestSteps: highest - output.zeroPoint,
    starts: Float32Array.from({ length: 257 }, (_, place) => {
      if (place === 0) return -BEYOND;
      return place === 256 ? BEYOND : startOf(negative, leastSteps + place);
    }),
  };
}

/** The least product that makes so many steps. */
function startOf(stepsOf: (product: number) => number, steps: number): number {
  let [below, from] = [-BEYOND, BEYOND];
  while (from - below > 1) {
    const middle = Math.floor((below + from) / 2);
    if (stepsOf(middle) >= steps) from = middle;
    else below = middle;
  }
  return from;
}
