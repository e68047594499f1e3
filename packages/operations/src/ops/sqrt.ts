/**
 * SQRT: the square root of each element.
 */
import { unary } from "./_unary.ts";

export const sqrt = unary({
  name: "SQRT",
  summary: "√x.",
  types: [
    ["1.2", "TENSOR_FLOAT16"],
    ["1.2", "TENSOR_FLOAT32"],
  ],
  work: "functionElement",
  loop(input, output, first, end) {
    for (let index = first; index < end; index++) output[index] = Math.sqrt(input[index]);
  },
});
