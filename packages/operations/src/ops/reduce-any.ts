/**
 * REDUCE_ANY: whether any element along some axes is true.
 */
import { defineReduction } from "./_reduction.ts";

export const reduceAny = defineReduction(
  "REDUCE_ANY",
  "Whether any element along some axes is true.",
  [["1.2", "TENSOR_BOOL8", "TENSOR_BOOL8"]],
  { start: 0, combine: (any, element) => (element === 0 ? any : 1) },
);
