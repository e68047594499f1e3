/**
 * SIGN: 1, -1 or 0. NaN stays.
 */
import { tfliteTypes } from "../types.ts";
import { unary } from "./_unary.ts";

export const sign = unary(
  "SIGN",
  1158,
  "1 where x > 0, -1 where x < 0, else x.",
  ["TENSOR_FLOAT32", tfliteTypes.TENSOR_FLOAT64, "TENSOR_INT32"],
  { real: signOf, integer: signOf },
);

/** `Math.sign`, except that -0 becomes 0. */
function signOf(value: number): number {
  return value === 0 ? 0 : Math.sign(value);
}
