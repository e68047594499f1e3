/**
 * Lists of performance by operand type (HAL 1.2 Capabilities.operandPerformance), sorted by type.
 */
import {
  type HalVersion,
  type OperandPerformance,
  OperandType,
  operandTypes,
  type PerformanceInfo,
} from "@nnhal/types";
import { getOperandTypeName } from "./operand.ts";

/** Greatest float32. */
const greatestFloat = 3.4028234663852886e38;

/** The performance of a type that a device does not support: the greatest float32 for time and power. */
export const noPerformanceInfo: PerformanceInfo = { execTime: greatestFloat, powerUsage: greatestFloat };

/** One entry with the same performance for every type of a HAL version, sorted; SUBGRAPH has none. */
export function nonExtensionOperandPerformance(
  info: PerformanceInfo,
  version: Extract<HalVersion, "1.2" | "1.3"> = "1.3",
): OperandPerformance[] {
  return Object.values(operandTypes)
    .filter(({ kind, since }) => kind !== "subgraph" && since <= version)
    .map(({ code }) => ({ type: code, info }))
    .sort((a, b) => a.type - b.type);
}

/** Returns the list with another performance for a type. Throws RangeError if the list has no entry for it. */
export function update(
  operandPerformance: readonly OperandPerformance[],
  type: number,
  info: PerformanceInfo,
): OperandPerformance[] {
  if (!operandPerformance.some((entry) => entry.type === type)) {
    throw new RangeError(`the list has no performance of ${getOperandTypeName(type)} to update`);
  }
  return operandPerformance.map((entry) => (entry.type === type ? { type, info } : entry));
}

/**
 * The performance for a type; `noPerformanceInfo` if the list has none. Throws RangeError for SUBGRAPH, whose
 * performance is that of IF and WHILE.
 */
export function lookup(operandPerformance: readonly OperandPerformance[], type: number): PerformanceInfo {
  if (type === OperandType.SUBGRAPH) {
    throw new RangeError("SUBGRAPH has no performance: use ifPerformance or whilePerformance");
  }
  return operandPerformance.find((entry) => entry.type === type)?.info ?? noPerformanceInfo;
}
