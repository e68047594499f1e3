/**
 * ABS: the magnitude of each element. That of the least INT32 is itself.
 */
import { unary } from "./_unary.ts";

export const abs = unary({
  name: "ABS",
  summary: "The magnitude of x.",
  types: [
    ["1.2", "TENSOR_FLOAT16"],
    ["1.2", "TENSOR_FLOAT32"],
    ["1.3", "TENSOR_INT32"],
  ],
  loop(input, output, first, end) {
    for (let index = first; index < end; index++) output[index] = Math.abs(input[index]);
  },
});
