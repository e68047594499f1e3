/**
 * SUB of 16-bit floats, 16-bit and 64-bit integers, of more than 4 axes, and with an activation of integers.
 */
import { arithmeticTypes } from "../_types.ts";
import { arithmetic } from "./_arithmetic.ts";

export const sub = arithmetic("SUB", {
  types: [...arithmeticTypes, "TENSOR_FLOAT16"],
  functions: ({ type }) => ({
    real: (left, right) => left - right,
    // A 16-bit difference is clamped, unlike a sum or a product.
    ...(type === "TENSOR_INT32" && { integer: (left, right) => left - right }),
    long: (left, right) => left - right,
  }),
});
