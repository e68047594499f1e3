/**
 * REDUCE_ALL: whether all elements along some axes are true.
 */
import { defineReduction } from "./_reduction.ts";

export const reduceAll = defineReduction(
  "REDUCE_ALL",
  "Whether all elements along some axes are true.",
  [["1.2", "TENSOR_BOOL8", "TENSOR_BOOL8"]],
  { start: 1, combine: (all, element) => (element === 0 ? 0 : all) },
);
