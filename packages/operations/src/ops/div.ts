/**
 * DIV: the quotient of two tensors. Integers are divided towards minus infinity; the HAL leaves
 * the result of division by 0 open, here it is 0.
 */
import { arithmetic } from "./_arithmetic.ts";

export const div = arithmetic({
  name: "DIV",
  summary: "The first tensor divided by the second, which broadcast.",
  types: [
    ["1.1", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_FLOAT16"],
    ["1.3", "TENSOR_INT32"],
  ],
  float(left, right, quotient, first, end) {
    for (let index = first; index < end; index++) quotient[index] = left[index] / right[index];
  },
  integer(left, right, quotient, first, end) {
    for (let index = first; index < end; index++) {
      quotient[index] = right[index] === 0 ? 0 : Math.floor(left[index] / right[index]) | 0;
    }
  },
});
