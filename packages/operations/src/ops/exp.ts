/**
 * EXP: e to the power of each element.
 */
import { unary } from "./_unary.ts";

export const exp = unary({
  name: "EXP",
  summary: "e to the power of x.",
  types: [
    ["1.2", "TENSOR_FLOAT16"],
    ["1.2", "TENSOR_FLOAT32"],
  ],
  work: "functionElement",
  loop(input, output, first, end) {
    for (let index = first; index < end; index++) output[index] = Math.exp(input[index]);
  },
});
