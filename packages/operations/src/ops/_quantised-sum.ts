/**
 * Sum and difference of quantised tensors, rounded once: both operands are multiplied by whole numbers that stand for their scales
 * relative to the output's, added, and the sum is divided by a power of two, halves up.
 */
import { ensure } from "../fail.ts";
import { clamp, quantiseMultiplier, roundHalfEven } from "../fixed-point.ts";
import { integerRange, type TensorInfo } from "../tensor.ts";
import type { PairLoop } from "./_broadcast.ts";

/** The greater multiplier is from 2^20 to 2^21, so that sums fit in 32 bits. */
const MULTIPLIER_BITS = 20;

/** left + right or, with sign -1, left - right, of elements side by side. */
export function quantisedSum(
  left: TensorInfo,
  right: TensorInfo,
  sign: 1 | -1,
  output: TensorInfo,
  [least, greatest]: readonly [least: number, greatest: number],
): PairLoop {
  const { multipliers, step } = sumMultipliers(left, right, output);
  const leftTerms = termsOf(left, multipliers[0]);
  const rightTerms = termsOf(right, sign * multipliers[1]);
  const [lowest] = integerRange(output.type);
  const { zeroPoint } = output;
  return (leftData, rightData, result, first, end) => {
    for (let index = first; index < end; index++) {
      const sum = leftTerms[leftData[index] - lowest] + rightTerms[rightData[index] - lowest];
      result[index] = clamp(Math.floor(sum * step + 0.5) + zeroPoint, least, greatest);
    }
  };
}

/**
 * Returns the multipliers of ADD and SUB that convert the operands' quantised integers to steps of the output: the
 * ratios of the scales, rounded to 21 bits. Throws an OperationError if the output's scale is too small for them.
 */
export function sumRatios(
  left: Pick<TensorInfo, "scale">,
  right: Pick<TensorInfo, "scale">,
  output: Pick<TensorInfo, "scale">,
): readonly [left: number, right: number] {
  const { multipliers, step } = sumMultipliers(left, right, output);
  return [multipliers[0] * step, multipliers[1] * step];
}

/** See `sumMultipliers`. */
export interface SumMultipliers {
  /** Whole numbers, at most 2^21. */
  readonly multipliers: readonly [left: number, right: number];
  /** A power of two, at most 1/4. */
  readonly step: number;
}

/**
 * The whole numbers that ADD and SUB multiply the operands' quantised integers by, and the power of two that then makes steps of the output.
 * Throws an OperationError if the output's scale is too small for them.
 */
export function sumMultipliers(
  left: Pick<TensorInfo, "scale">,
  right: Pick<TensorInfo, "scale">,
  output: Pick<TensorInfo, "scale">,
): SumMultipliers {
  const largest = Math.max(left.scale, right.scale);
  const needed = largest / 2 ** (MULTIPLIER_BITS - 1);
  ensure(output.scale > needed, () => `the output's scale: expected more than ${needed}, got ${output.scale}`);
  const leftRatio = Math.fround(left.scale / output.scale);
  const rightRatio = Math.fround(right.scale / output.scale);
  const exponent = quantiseMultiplier(Math.max(leftRatio, rightRatio)).shift - 1;
  const step = 2 ** (exponent - MULTIPLIER_BITS);
  const multipliers = [roundHalfEven(leftRatio / step), roundHalfEven(rightRatio / step)] as const;
  return { multipliers, step };
}

/** The contribution of each of an element's 256 possible values to the sum, from the least value up. */
function termsOf({ type, zeroPoint }: TensorInfo, multiplier: number): Int32Array {
  const [lowest] = integerRange(type);
  return Int32Array.from({ length: 256 }, (_, index) => (index + lowest - zeroPoint) * multiplier);
}
