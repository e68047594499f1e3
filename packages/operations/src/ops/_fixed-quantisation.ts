/**
 * Outputs whose quantisation the operation fixes, whatever the model would like.
 */
import type { OperandTypeName } from "@nnhal/types";

/** Scale and zero point of a fixed quantisation: that of TENSOR_QUANT8_ASYMM is given, the signed type's is 128 less. */
export function fixedOutputQuantisation(
  type: OperandTypeName,
  scale: number,
  zeroPoint: number,
): { scale: number; zeroPoint: number } {
  if (type === "TENSOR_QUANT8_ASYMM") return { scale, zeroPoint };
  if (type === "TENSOR_QUANT8_ASYMM_SIGNED") return { scale, zeroPoint: zeroPoint - 128 };
  return { scale: 0, zeroPoint: 0 };
}
