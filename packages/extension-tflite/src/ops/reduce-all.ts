/**
 * REDUCE_ALL of more than 4 axes.
 */
import { combineAll, reduction } from "./_reduction.ts";

export const reduceAll = reduction("REDUCE_ALL", {
  types: ["TENSOR_BOOL8"],
  kernel: (input, { reduced }, output) =>
    combineAll(input, reduced, output, { start: 1, combine: (all, element) => (element === 0 ? 0 : all) }),
});
