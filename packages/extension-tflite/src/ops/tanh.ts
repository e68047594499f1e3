/**
 * TANH of 16-bit elements, of more than 4 axes, and with any quantisation of an 8-bit result. A 16-bit result has scale 2^-15.
 */
import { mapElements } from "../_elementwise.ts";
import { squash, tanh16 } from "./_squashing16.ts";
import { widerUnary } from "./_unary.ts";

export const tanh = widerUnary(
  "TANH",
  ["TENSOR_FLOAT32", "TENSOR_FLOAT16", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM"],
  (input, output) =>
    output.type === "TENSOR_QUANT16_SYMM"
      ? squash(input, output, tanh16)
      : mapElements(input, output, { real: Math.tanh }),
);
