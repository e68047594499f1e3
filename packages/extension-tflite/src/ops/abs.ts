/**
 * ABS of quantised elements and 16-bit integers.
 */
import { mapElements } from "../_elementwise.ts";
import { isScaled16, mapScaled16, scaling16 } from "../_scaled16.ts";
import { widerUnary } from "./_unary.ts";

export const abs = widerUnary("ABS", ["TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM"], (input, output) => {
  if (!isScaled16(input, output)) return mapElements(input, output, { real: Math.abs, integer: Math.abs });
  const scaled = scaling16(input.scale, 1, output.scale);
  return mapScaled16(input, output, (element) => scaled(Math.abs(element)));
});
