/**
 * LOG of quantised elements. The result of a number that has no logarithm is the least element.
 */
import { integerRange } from "@nnhal/operations";
import { mapFunction } from "./_function.ts";
import { widerUnary } from "./_unary.ts";

export const log = widerUnary("LOG", ["TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM"], (input, output) => {
  const least = (integerRange(output.type)[0] - output.zeroPoint) * output.scale;
  return mapFunction(input, output, (value) => (value <= 0 ? least : Math.log(value)));
});
