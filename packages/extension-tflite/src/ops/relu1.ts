/**
 * RELU1, which .tflite calls RELU_N1_TO_1, of more than 4 axes and with a separate quantisation of the result.
 */
import { FusedActivationFunc } from "@nnhal/types";
import { rectify } from "./_rectifier.ts";
import { widerUnary } from "./_unary.ts";

export const relu1 = widerUnary(
  "RELU1",
  ["TENSOR_FLOAT32", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED"],
  (input, output) => rectify(input, output, FusedActivationFunc.RELU1),
);
