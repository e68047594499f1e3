/**
 * REDUCE_SUM: the sum of the elements along some axes.
 */
import { defineReduction } from "./_reduction.ts";

export const reduceSum = defineReduction(
  "REDUCE_SUM",
  "The sum of the elements along some axes.",
  [
    ["1.2", "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_FLOAT16", "TENSOR_FLOAT16"],
  ],
  { start: 0, combine: (sum, element) => sum + element },
);
