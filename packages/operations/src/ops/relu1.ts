/**
 * RELU1: elements within [-1, 1].
 */
import { FusedActivationFunc } from "@nnhal/types";
import { rectifier } from "./_rectifier.ts";

export const relu1 = rectifier("RELU1", "x within [-1, 1].", FusedActivationFunc.RELU1);
