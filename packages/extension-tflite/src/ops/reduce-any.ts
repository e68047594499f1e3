/**
 * REDUCE_ANY of more than 4 axes.
 */
import { combineAll, reduction } from "./_reduction.ts";

export const reduceAny = reduction("REDUCE_ANY", {
  types: ["TENSOR_BOOL8"],
  kernel: (input, { reduced }, output) =>
    combineAll(input, reduced, output, { start: 0, combine: (any, element) => (element === 0 ? any : 1) }),
});
