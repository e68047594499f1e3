/**
 * LOGICAL_OR: whether one of two elements is true.
 */
import { pairwise } from "./_pairwise.ts";

export const logicalOr = pairwise({
  name: "LOGICAL_OR",
  summary: "Whether at least one of two elements is true, of tensors that broadcast.",
  types: [["1.2", "TENSOR_BOOL8"]],
  loop(left, right, result, first, end) {
    for (let index = first; index < end; index++) result[index] = left[index] || right[index] ? 1 : 0;
  },
});
