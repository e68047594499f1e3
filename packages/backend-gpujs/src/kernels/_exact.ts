/** Types whose elements are exact in float32, so that they can be moved unchanged. TENSOR_INT32 has more digits. */
import { type AnyOperandType, isFloat } from "@nnhal/operations";

const whole: readonly AnyOperandType[] = [
  "TENSOR_BOOL8",
  "TENSOR_QUANT8_ASYMM",
  "TENSOR_QUANT8_ASYMM_SIGNED",
  "TENSOR_QUANT8_SYMM",
  "TENSOR_QUANT16_SYMM",
  "TENSOR_QUANT16_ASYMM",
];

export function isExact(type: AnyOperandType): boolean {
  return isFloat(type) || whole.includes(type);
}
