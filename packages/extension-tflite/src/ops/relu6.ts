/**
 * RELU6 of 16-bit elements and floats, of more than 4 axes, and with a separate quantisation of the result.
 */
import { FusedActivationFunc } from "@nnhal/types";
import { activationTypes } from "../_types.ts";
import { rectify } from "./_rectifier.ts";
import { widerUnary } from "./_unary.ts";

export const relu6 = widerUnary("RELU6", [...activationTypes, "TENSOR_FLOAT16"], (input, output) =>
  rectify(input, output, FusedActivationFunc.RELU6),
);
