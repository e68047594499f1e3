/**
 * LOGISTIC of 16-bit elements, and of more than 4 axes. A quantised result has scale 2^-8 or, of 16 bits, 2^-15.
 */
import { mapElements } from "../_elementwise.ts";
import { logistic16, squash } from "./_squashing16.ts";
import { widerUnary } from "./_unary.ts";

export const logistic = widerUnary(
  "LOGISTIC",
  ["TENSOR_FLOAT32", "TENSOR_FLOAT16", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM"],
  (input, output) =>
    output.type === "TENSOR_QUANT16_SYMM"
      ? squash(input, output, logistic16)
      : mapElements(input, output, { real: (value) => 1 / (1 + Math.exp(-value)) }),
);
