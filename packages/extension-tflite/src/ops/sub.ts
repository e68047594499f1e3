/**
 * SUB of 16-bit and 64-bit integers, of more than 4 axes, and with an activation of integers.
 */
import { tfliteTypes } from "../types.ts";
import { arithmetic } from "./_arithmetic.ts";

export const sub = arithmetic("SUB", {
  types: [
    "TENSOR_FLOAT32",
    "TENSOR_INT32",
    tfliteTypes.TENSOR_INT64,
    "TENSOR_QUANT8_ASYMM",
    "TENSOR_QUANT8_ASYMM_SIGNED",
    "TENSOR_QUANT16_SYMM",
  ],
  functions: ({ type }) => ({
    real: (left, right) => left - right,
    // A 16-bit difference is clamped, unlike a sum or a product.
    ...(type === "TENSOR_INT32" && { integer: (left, right) => left - right }),
    long: (left, right) => left - right,
  }),
});
