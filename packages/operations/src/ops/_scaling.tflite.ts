/**
 * From sums of products to steps of a quantised result.
 */
import { quantiseMultiplier, roundHalfAway } from "../fixed-point.ts";

/** From a sum to steps of the result, by a real multiplier. */
export type Scaling = (multiplier: number) => (sum: number) => number;

/** Rounds the product, halves away from 0. */
export const exactScaling: Scaling = (multiplier) => (sum) => roundHalfAway(sum * multiplier);

/** Greatest shift to the left that .tflite has for sums of 64 bits. */
const MOST_WIDE_SHIFT = 7;

/**
 * .tflite's scaling of sums of 64 bits: by the upper 16 bits of the multiplier, with halves up. It differs from the exact one by a step here
 * and there.
 */
export const wideScaling: Scaling = (multiplier) => {
  const { mantissa, shift } = quantiseMultiplier(multiplier);
  if (shift > MOST_WIDE_SHIFT) return exactScaling(multiplier);
  const upper = Math.min((mantissa + 2 ** 15) >>> 16, 0x7fff);
  const bits = 15 - shift;
  const [half, divisor] = [2 ** (bits - 1), 2 ** bits];
  return (sum) => {
    const product = sum * upper + half;
    if (Math.abs(product) < Number.MAX_SAFE_INTEGER) return Math.floor(product / divisor);
    return Number((BigInt(sum) * BigInt(upper) + BigInt(half)) >> BigInt(bits));
  };
};
