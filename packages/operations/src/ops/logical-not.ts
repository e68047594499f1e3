/**
 * LOGICAL_NOT: whether each element is false.
 */
import { unary } from "./_unary.ts";

export const logicalNot = unary({
  name: "LOGICAL_NOT",
  summary: "Whether x is false.",
  types: [["1.2", "TENSOR_BOOL8"]],
  loop(input, output) {
    for (let index = 0; index < output.length; index++) output[index] = input[index] === 0 ? 1 : 0;
  },
});
