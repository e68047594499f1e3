/**
 * NEG: each element with the other sign. The least INT32 stays as it is.
 */
import { unary } from "./_unary.ts";

export const neg = unary({
  name: "NEG",
  summary: "-x.",
  types: [
    ["1.2", "TENSOR_FLOAT16"],
    ["1.2", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_INT32"],
  ],
  loop(input, output, first, end) {
    for (let index = first; index < end; index++) output[index] = -input[index];
  },
});
