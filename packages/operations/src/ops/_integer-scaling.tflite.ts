/** Scaling of sums as in the integer kernels of .tflite. */
import { effectiveScale, multiplyByQuantisedMultiplier, quantiseMultiplier } from "../fixed-point.ts";

/** Multiplies a sum of products of two tensors, of these scales, into steps of a result; in integers, as .tflite does. */
export function integerScaling(left: number, right: number, result: number): (sum: number) => number {
  const multiplier = quantiseMultiplier(effectiveScale(left, right, result));
  // Sums have 32 bits.
  return (sum) => multiplyByQuantisedMultiplier(sum | 0, multiplier);
}
