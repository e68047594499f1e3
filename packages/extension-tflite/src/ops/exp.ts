/**
 * EXP of quantised elements.
 */
import { mapFunction } from "./_function.ts";
import { widerUnary } from "./_unary.ts";

export const exp = widerUnary("EXP", ["TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM"], (input, output) =>
  mapFunction(input, output, Math.exp),
);
