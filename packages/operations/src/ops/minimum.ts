/**
 * MINIMUM: the lesser of two elements.
 */
import { pairwise } from "./_pairwise.ts";

export const minimum = pairwise({
  name: "MINIMUM",
  summary: "The lesser of two elements, of tensors that broadcast.",
  types: [
    ["1.2", "TENSOR_FLOAT16"],
    ["1.2", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_INT32"],
    ["1.2", "TENSOR_QUANT8_ASYMM"],
    ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED"],
  ],
  loop(left, right, result, first, end) {
    for (let index = first; index < end; index++) result[index] = Math.min(left[index], right[index]);
  },
});
