/**
 * SQRT of quantised elements. Results are truncated toward 0, as the operator does, and negative numbers are refused.
 */
import { mapElements } from "../_elementwise.ts";
import { ensureNotNegative } from "./_root.ts";
import { widerUnary } from "./_unary.ts";

export const sqrt = widerUnary("SQRT", ["TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM"], (input, output) => {
  ensureNotNegative(input);
  // A number of whole steps of the output, which its rounding keeps. The quotient is a float32 in the operator.
  const whole = (value: number) => Math.trunc(Math.fround(Math.fround(Math.sqrt(Math.fround(value))) / output.scale));
  return mapElements(input, output, { real: (value) => whole(value) * output.scale });
});
