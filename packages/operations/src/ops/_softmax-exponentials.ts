/** The exponentials of SOFTMAX of 8-bit elements. */
import { multiplyByQuantisedMultiplier, quantiseMultiplier } from "../fixed-point.ts";
import { fixedPoint32 } from "../fixed-point-functions.ts";

const exponentBits = 5;

/**
 * exp(-n * step) for n from 0 to 255, as integers where 2^31 stands for 1: an element is at most 255 below the greatest. `step`: beta times
 * the scale of the input.
 */
export function softmaxExponentials(step: number): Int32Array {
  const multiplier = quantiseMultiplier(Math.min(step * 2 ** (31 - exponentBits), 2 ** 31 - 1));
  return Int32Array.from({ length: 256 }, (_, below) =>
    fixedPoint32.exponential(multiplyByQuantisedMultiplier(-below, multiplier), exponentBits),
  );
}
