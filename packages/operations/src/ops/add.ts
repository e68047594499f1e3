/**
 * ADD: the sum of two tensors.
 */
import { arithmetic } from "./_arithmetic.ts";
import { quantisedSum } from "./_quantised-sum.ts";

export const add = arithmetic({
  name: "ADD",
  summary: "The sum of two tensors that broadcast.",
  types: [
    ["1.0", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_FLOAT16"],
    ["1.0", "TENSOR_QUANT8_ASYMM"],
    ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED"],
    ["1.3", "TENSOR_INT32"],
  ],
  float(left, right, sum, first, end) {
    for (let index = first; index < end; index++) sum[index] = left[index] + right[index];
  },
  integer(left, right, sum, first, end) {
    for (let index = first; index < end; index++) sum[index] = (left[index] + right[index]) | 0;
  },
  pairQuantised: (left, right, output, bounds) => quantisedSum(left, right, 1, output, bounds),
});
