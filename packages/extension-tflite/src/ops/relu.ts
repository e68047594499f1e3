/**
 * RELU of 16-bit elements, of more than 4 axes, and with a quantisation of the result of its own.
 */
import { FusedActivationFunc } from "@nnhal/types";
import { rectify } from "./_rectifier.ts";
import { widerUnary } from "./_unary.ts";

export const relu = widerUnary(
  "RELU",
  ["TENSOR_FLOAT32", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM"],
  (input, output) => rectify(input, output, FusedActivationFunc.RELU),
);
