/**
 * REDUCE_MAX of integers and 16-bit elements, and of more than 4 axes. Elements are compared as they are: operands have one quantisation.
 */
import { tfliteTypes } from "../types.ts";
import { combineAll, reduction } from "./_reduction.ts";

export const reduceMax = reduction("REDUCE_MAX", {
  types: [
    "TENSOR_FLOAT32",
    "TENSOR_INT32",
    tfliteTypes.TENSOR_INT64,
    "TENSOR_QUANT8_ASYMM",
    "TENSOR_QUANT8_ASYMM_SIGNED",
    "TENSOR_QUANT16_SYMM",
  ],
  needsElements: true,
  kernel: (input, { reduced }, output) =>
    combineAll(input, reduced, output, {
      start: Number.NEGATIVE_INFINITY,
      combine: Math.max,
      startLong: -(2n ** 63n),
      combineLong: (greatest, element) => (element > greatest ? element : greatest),
    }),
});
