/**
 * REDUCE_PROD: the product of the elements along some axes. HAL: a factor of 0 makes it 0, even beside an infinity.
 */
import { defineReduction } from "./_reduction.ts";

export const reduceProd = defineReduction(
  "REDUCE_PROD",
  "The product of the elements along some axes.",
  [
    ["1.2", "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_FLOAT16", "TENSOR_FLOAT16"],
  ],
  { start: 1, combine: (product, element) => (product === 0 || element === 0 ? 0 : product * element) },
);
