/**
 * RELU_0_TO_1: elements within [0, 1].
 */
import { clamp } from "@nnhal/operations";
import { unary } from "./_unary.ts";

export const relu0To1 = unary(
  "RELU_0_TO_1",
  1152,
  "x within [0, 1].",
  ["TENSOR_FLOAT32", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED"],
  { real: (value) => clamp(value, 0, 1) },
);
