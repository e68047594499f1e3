/**
 * ADD of 16-bit and 64-bit integers, of more than 4 axes, and with an activation of integers.
 */
import { tfliteTypes } from "../types.ts";
import { arithmetic } from "./_arithmetic.ts";

export const add = arithmetic("ADD", {
  types: [
    "TENSOR_FLOAT32",
    "TENSOR_FLOAT16",
    "TENSOR_INT32",
    tfliteTypes.TENSOR_INT64,
    "TENSOR_QUANT8_ASYMM",
    "TENSOR_QUANT8_ASYMM_SIGNED",
    "TENSOR_QUANT16_SYMM",
  ],
  functions: () => ({
    real: (left, right) => left + right,
    integer: (left, right) => left + right,
    long: (left, right) => left + right,
  }),
});
