/**
 * ADD of 16-bit and 64-bit integers, of more than 4 axes, and with an activation of integers.
 */
import { arithmeticTypes } from "../_types.ts";
import { arithmetic } from "./_arithmetic.ts";

export const add = arithmetic("ADD", {
  types: [...arithmeticTypes, "TENSOR_FLOAT16"],
  functions: () => ({
    real: (left, right) => left + right,
    integer: (left, right) => left + right,
    long: (left, right) => left + right,
  }),
});
