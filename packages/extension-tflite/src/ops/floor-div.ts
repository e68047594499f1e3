/**
 * FLOOR_DIV: the quotient toward minus infinity. Quantisation is left out of account, as the operator does. A divisor of 0 is refused,
 * also of floats.
 */
import { ensureNoZero } from "./_divisor.ts";
import { pair } from "./_pair.ts";

const quotient = (left: number, right: number) => Math.floor(left / right);

export const floorDiv = pair({
  name: "FLOOR_DIV",
  code: 1090,
  summary: "The greatest integer that is at most left / right, of tensors that broadcast.",
  types: ["TENSOR_FLOAT32", "TENSOR_INT32", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM"],
  functions(_left, right) {
    ensureNoZero(right);
    return right.type === "TENSOR_FLOAT32" ? { real: quotient } : { integer: quotient };
  },
});
