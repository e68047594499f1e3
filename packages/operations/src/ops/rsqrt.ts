/**
 * RSQRT: the reciprocal of the square root of each element.
 */
import { unary } from "./_unary.ts";

export const rsqrt = unary({
  name: "RSQRT",
  summary: "1 / √x.",
  types: [
    ["1.2", "TENSOR_FLOAT16"],
    ["1.2", "TENSOR_FLOAT32"],
  ],
  work: "functionElement",
  loop(input, output, first, end) {
    for (let index = first; index < end; index++) output[index] = 1 / Math.sqrt(input[index]);
  },
});
