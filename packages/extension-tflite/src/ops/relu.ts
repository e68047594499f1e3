/**
 * RELU of 16-bit elements and floats, of more than 4 axes, and with a separate quantisation of the result.
 */
import { FusedActivationFunc } from "@nnhal/types";
import { isScaled16, mapScaled16, scaling16 } from "../_scaled16.ts";
import { activationTypes } from "../_types.ts";
import { rectify } from "./_rectifier.ts";
import { widerUnary } from "./_unary.ts";

export const relu = widerUnary("RELU", [...activationTypes, "TENSOR_FLOAT16"], (input, output) => {
  if (!isScaled16(input, output)) return rectify(input, output, FusedActivationFunc.RELU);
  const scaled = scaling16(input.scale, 1, output.scale);
  return mapScaled16(input, output, (element) => Math.max(scaled(element), 0));
});
