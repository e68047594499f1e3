/**
 * REDUCE_MAX of integers and 16-bit elements, and of more than 4 axes.
 */
import { reductionExtreme } from "./_reduction-extreme.ts";

export const reduceMax = reductionExtreme("REDUCE_MAX", {
  start: Number.NEGATIVE_INFINITY,
  combine: Math.max,
  startLong: -(2n ** 63n),
  combineLong: (greatest, element) => (element > greatest ? element : greatest),
});
