/**
 * DIV of quantised elements, of integers toward 0, and of more than 4 axes. A divisor of 0 is refused, except of floats.
 */
import { isFloat } from "@nnhal/operations";
import { arithmetic } from "./_arithmetic.ts";
import { ensureNoZero } from "./_divisor.ts";

export const div = arithmetic("DIV", {
  types: [
    "TENSOR_FLOAT32",
    "TENSOR_FLOAT16",
    "TENSOR_INT32",
    "TENSOR_QUANT8_ASYMM",
    "TENSOR_QUANT8_ASYMM_SIGNED",
    "TENSOR_QUANT16_SYMM",
  ],
  functions(_left, right) {
    if (!isFloat(right.type)) ensureNoZero(right, right.zeroPoint);
    return {
      real: (left, right) => left / right,
      ...(right.type === "TENSOR_INT32" && { integer: (left, right) => Math.trunc(left / right) }),
    };
  },
});
