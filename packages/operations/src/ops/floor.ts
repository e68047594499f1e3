/**
 * FLOOR: the greatest integer that is at most each element.
 */
import { unary } from "./_unary.ts";

export const floor = unary({
  name: "FLOOR",
  summary: "The greatest integer that is at most x.",
  types: [
    ["1.0", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_FLOAT16"],
  ],
  rank: [1, 4],
  loop(input, output, first, end) {
    for (let index = first; index < end; index++) output[index] = Math.floor(input[index]);
  },
});
