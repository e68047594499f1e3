/**
 * RELU6: elements within [0, 6].
 */
import { FusedActivationFunc } from "@nnhal/types";
import { rectifier } from "./_rectifier.ts";

export const relu6 = rectifier("RELU6", "x within [0, 6].", FusedActivationFunc.RELU6);
