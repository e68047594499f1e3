/**
 * SUB: the difference of two tensors.
 */
import { arithmetic } from "./_arithmetic.ts";
import { quantisedSum } from "./_quantised-sum.ts";

export const sub = arithmetic({
  name: "SUB",
  summary: "The first tensor minus the second, which broadcast.",
  types: [
    ["1.1", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_FLOAT16"],
    ["1.2", "TENSOR_QUANT8_ASYMM"],
    ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED"],
    ["1.3", "TENSOR_INT32"],
  ],
  float(left, right, difference, first, end) {
    for (let index = first; index < end; index++) difference[index] = left[index] - right[index];
  },
  integer(left, right, difference, first, end) {
    for (let index = first; index < end; index++) difference[index] = (left[index] - right[index]) | 0;
  },
  pairQuantised: (left, right, output, bounds) => quantisedSum(left, right, -1, output, bounds),
});
