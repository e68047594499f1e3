/**
 * MAXIMUM: the greater of two elements.
 */
import { pairwise } from "./_pairwise.ts";

export const maximum = pairwise({
  name: "MAXIMUM",
  summary: "The greater of two elements, of tensors that broadcast.",
  types: [
    ["1.2", "TENSOR_FLOAT16"],
    ["1.2", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_INT32"],
    ["1.2", "TENSOR_QUANT8_ASYMM"],
    ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED"],
  ],
  loop(left, right, result, first, end) {
    for (let index = first; index < end; index++) result[index] = Math.max(left[index], right[index]);
  },
});
