/**
 * FLOOR_MOD: the rest of a division toward minus infinity. Quantisation is left out of account, as the operator does. A divisor of 0 is
 * refused, except of floats.
 */
import { tfliteTypes } from "../types.ts";
import { ensureNoZero } from "./_divisor.ts";
import { pair } from "./_pair.ts";

export const floorMod = pair({
  name: "FLOOR_MOD",
  code: 1095,
  summary: "left - right · ⌊left / right⌋, of tensors that broadcast.",
  types: [
    "TENSOR_FLOAT32",
    "TENSOR_INT32",
    tfliteTypes.TENSOR_INT64,
    "TENSOR_QUANT8_ASYMM_SIGNED",
    "TENSOR_QUANT16_SYMM",
  ],
  functions(_left, right) {
    if (right.type === "TENSOR_FLOAT32") return { real: rest };
    ensureNoZero(right);
    return {
      integer: rest,
      long(left, right) {
        const truncated = left % right;
        return truncated !== 0n && truncated < 0n !== right < 0n ? truncated + right : truncated;
      },
    };
  },
});

/** The rest has the divisor's sign. */
function rest(left: number, right: number): number {
  const truncated = left % right;
  return truncated !== 0 && truncated < 0 !== right < 0 ? truncated + right : truncated;
}
