/**
 * LOGICAL_AND: whether both elements are true.
 */
import { pairwise } from "./_pairwise.ts";

export const logicalAnd = pairwise({
  name: "LOGICAL_AND",
  summary: "Whether both elements are true, of tensors that broadcast.",
  types: [["1.2", "TENSOR_BOOL8"]],
  loop(left, right, result, first, end) {
    for (let index = first; index < end; index++) result[index] = left[index] && right[index] ? 1 : 0;
  },
});
