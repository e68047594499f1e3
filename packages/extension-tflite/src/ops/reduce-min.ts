/**
 * REDUCE_MIN of integers and 16-bit elements, and of more than 4 axes.
 */
import { reductionExtreme } from "./_reduction-extreme.ts";

export const reduceMin = reductionExtreme("REDUCE_MIN", {
  start: Number.POSITIVE_INFINITY,
  combine: Math.min,
  startLong: 2n ** 63n - 1n,
  combineLong: (least, element) => (element < least ? element : least),
});
