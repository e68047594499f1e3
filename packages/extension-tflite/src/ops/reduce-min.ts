/**
 * REDUCE_MIN of integers and 16-bit elements, and of more than 4 axes. Elements are compared as they are: operands have one quantisation.
 */
import { tfliteTypes } from "../types.ts";
import { combineAll, reduction } from "./_reduction.ts";

export const reduceMin = reduction("REDUCE_MIN", {
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
      start: Number.POSITIVE_INFINITY,
      combine: Math.min,
      startLong: 2n ** 63n - 1n,
      combineLong: (least, element) => (element < least ? element : least),
    }),
});
