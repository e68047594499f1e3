/**
 * NEG of 8-bit, 16-bit and 64-bit integers. Quantisation is left out of account, as the operator does; the least integer stays as it is.
 */
import { mapElements } from "../_elementwise.ts";
import { tfliteTypes } from "../types.ts";
import { widerUnary } from "./_unary.ts";

export const neg = widerUnary(
  "NEG",
  ["TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM", tfliteTypes.TENSOR_INT64],
  (input, output) => mapElements(input, output, { integer: (value) => -value, long: (value) => -value }),
);
