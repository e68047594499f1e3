/**
 * ABS of quantised elements and 16-bit integers.
 */
import { mapElements } from "../_elementwise.ts";
import { widerUnary } from "./_unary.ts";

export const abs = widerUnary("ABS", ["TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM"], (input, output) =>
  mapElements(input, output, { real: Math.abs, integer: Math.abs }),
);
