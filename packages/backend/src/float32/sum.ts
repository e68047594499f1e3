/**
 * ADD and SUB of 8 bits for engines that compute in float32, with the results of the HAL's arithmetic of 32 bits: each multiplier is a high
 * and a low part, so that all products and sums are whole numbers below 2^24.
 */
import { sumMultipliers, type TensorInfo } from "@nnhal/operations";

/** The binary digits of the low part of a multiplier. The high part has at most 11 others. */
const LOW_BITS = 11;

/**
 * Numbers such that, for the operands' whole numbers l and r less their zero points,
 *
 *     low = l · left.low + r · right.low
 *     carry = floor(low · carryStep)
 *     high = l · left.high + r · right.high + carry
 *     rest = (low - carry / carryStep) · restStep
 *     result = floor(high · step + (rest + 0.5)), in steps of the output
 *
 * is exact in float32. Where `restStep` is 0 the rest does not count.
 */
export interface Float32Sum {
  readonly left: MultiplierParts;
  readonly right: MultiplierParts;
  readonly carryStep: number;
  readonly step: number;
  readonly restStep: number;
}

/** A multiplier as high · 2^11 + low. */
export interface MultiplierParts {
  readonly high: number;
  readonly low: number;
}

/** Ties are frequent if at least one sum in so many can be one. */
const FREQUENT = 2 ** 10;

/**
 * Returns whether many sums lie halfway between two steps of the output. Engines that round halves to even then differ
 * from the HAL, which rounds them up. This happens if the ratios of the scales are simple, such as 1/2: both
 * multipliers end with many binary zeros. Throws as `float32Sum` does.
 */
export function hasFrequentTies(
  left: Pick<TensorInfo, "scale">,
  right: Pick<TensorInfo, "scale">,
  output: Pick<TensorInfo, "scale">,
): boolean {
  const { multipliers, step } = sumMultipliers(left, right, output);
  const divisor = Math.min(...multipliers.map((each) => (each === 0 ? Number.POSITIVE_INFINITY : each & -each)));
  return divisor * step * FREQUENT >= 1;
}

/** The numbers for left + right or, with sign -1, left - right. Throws an OperationError if the output's scale is too small. */
export function float32Sum(
  left: Pick<TensorInfo, "scale">,
  right: Pick<TensorInfo, "scale">,
  sign: 1 | -1,
  output: Pick<TensorInfo, "scale">,
): Float32Sum {
  const { multipliers, step } = sumMultipliers(left, right, output);
  const unit = 2 ** LOW_BITS;
  const partsOf = (multiplier: number, sign: 1 | -1): MultiplierParts => {
    const high = Math.floor(multiplier / unit);
    return { high: sign * high, low: sign * (multiplier - high * unit) };
  };
  const isHalfHigh = step * unit <= 0.5;
  return {
    left: partsOf(multipliers[0], 1),
    right: partsOf(multipliers[1], sign),
    carryStep: 1 / unit,
    step: step * unit,
    // Half a step is a whole number of high units, or the low part decides.
    restStep: isHalfHigh ? 0 : step,
  };
}
