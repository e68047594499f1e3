/**
 * RSQRT of quantised elements. The result of 0 is the greatest element, and negative numbers are refused.
 */
import { integerRange } from "@nnhal/operations";
import { mapFunction } from "./_function.ts";
import { ensureNotNegative } from "./_root.ts";
import { widerUnary } from "./_unary.ts";

export const rsqrt = widerUnary("RSQRT", ["TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM"], (input, output) => {
  ensureNotNegative(input);
  const greatest = (integerRange(output.type)[1] - output.zeroPoint) * output.scale;
  return mapFunction(input, output, (value) => (value <= 0 ? greatest : 1 / Math.sqrt(value)));
});
