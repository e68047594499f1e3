/**
 * The HAL version that capabilities need: before 1.2 there is one performance for float32 and one for all
 * else, not one for each operand type.
 */
import { type Capabilities, OperandType, type PerformanceInfo } from "@nnhal/types";
import { getOperandTypeName, lookup } from "@nnhal/utils";
import type { Need } from "./needs.ts";

/** The operand types of HAL 1.0 that are not float: their performance there is that of quantized8. */
export const quantized8Types: readonly number[] = [
  OperandType.INT32,
  OperandType.UINT32,
  OperandType.TENSOR_INT32,
  OperandType.TENSOR_QUANT8_ASYMM,
  OperandType.OEM,
  OperandType.TENSOR_OEM_BYTE,
];

/** The operand types of HAL 1.0 that are float. */
export const float32Types: readonly number[] = [OperandType.FLOAT32, OperandType.TENSOR_FLOAT32];

/**
 * The parts of some capabilities that need more than HAL 1.0. Operand types, IF and WHILE that an older caller does not
 * know are not among them: it will not ask for those.
 */
export function capabilitiesNeeds(capabilities: Capabilities): Need[] {
  const { operandPerformance } = capabilities;
  const float32 = lookup(operandPerformance, OperandType.TENSOR_FLOAT32);
  const { relaxedFloat32toFloat16PerformanceScalar: scalar, relaxedFloat32toFloat16PerformanceTensor: tensor } =
    capabilities;
  const needs: Need[] = [];
  const compareAll = (types: readonly number[], like: number) => {
    for (const type of types) {
      if (samePerformance(lookup(operandPerformance, type), lookup(operandPerformance, like))) continue;
      const what = `a performance of ${getOperandTypeName(type)} that is not that of ${getOperandTypeName(like)}`;
      needs.push({ path: "operandPerformance", what, version: "1.2" });
    }
  };
  compareAll(float32Types, OperandType.TENSOR_FLOAT32);
  compareAll(quantized8Types, OperandType.TENSOR_QUANT8_ASYMM);
  if (!samePerformance(scalar, tensor)) {
    const what = "a relaxed performance of scalars that is not that of tensors";
    needs.push({ path: "relaxedFloat32toFloat16PerformanceScalar", what, version: "1.2" });
  }
  if (!samePerformance(tensor, float32)) {
    const what = "a relaxed performance that is not that of float32";
    needs.push({ path: "relaxedFloat32toFloat16PerformanceTensor", what, version: "1.1" });
  }
  return needs;
}

/** Returns whether two performances are the same. */
export function samePerformance(a: PerformanceInfo, b: PerformanceInfo): boolean {
  return Object.is(a.execTime, b.execTime) && Object.is(a.powerUsage, b.powerUsage);
}
