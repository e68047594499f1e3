/**
 * SQUARED_DIFFERENCE: the square of the difference of two elements.
 */
import { pair } from "./_pair.ts";

export const squaredDifference = pair({
  name: "SQUARED_DIFFERENCE",
  code: 1099,
  summary: "(left - right)², of tensors that broadcast.",
  types: ["TENSOR_FLOAT32", "TENSOR_INT32", "TENSOR_QUANT8_ASYMM_SIGNED"],
  functions: () => ({
    real: (left, right) => (left - right) ** 2,
    integer: (left, right) => Math.imul(left - right, left - right),
  }),
});
