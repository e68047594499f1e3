/**
 * Outputs whose quantisation the operation fixes, whatever the model would like.
 */
import type { AnyOperandType } from "../operand-type.ts";

/** Scale and zero point of a fixed quantisation: that of TENSOR_QUANT8_ASYMM is given, the signed type's is 128 less. */
export function fixedOutputQuantisation(
  type: AnyOperandType,
  scale: number,
  zeroPoint: number,
): { scale: number; zeroPoint: number } {
  if (type === "TENSOR_QUANT8_ASYMM") return { scale, zeroPoint };
  if (type === "TENSOR_QUANT8_ASYMM_SIGNED") return { scale, zeroPoint: zeroPoint - 128 };
  return { scale: 0, zeroPoint: 0 };
}
