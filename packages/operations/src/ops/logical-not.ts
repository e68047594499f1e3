/**
 * LOGICAL_NOT: whether each element is false.
 */
import { unary } from "./_unary.ts";

export const logicalNot = unary({
  name: "LOGICAL_NOT",
  summary: "Whether x is false.",
  types: [["1.2", "TENSOR_BOOL8"]],
  loop(input, output, first, end) {
    for (let index = first; index < end; index++) output[index] = input[index] === 0 ? 1 : 0;
  },
});
