/**
 * RELU: negative elements become 0.
 */
import { FusedActivationFunc } from "@nnhal/types";
import { rectifier } from "./_rectifier.ts";

export const relu = rectifier("RELU", "x where x > 0, else 0.", FusedActivationFunc.RELU);
