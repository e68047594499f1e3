/** The parts of capabilities that older HAL versions lack. */
import {
  type Capabilities,
  type HalVersion,
  type OperandPerformance,
  operandTypeNames,
  operandTypes,
} from "@nnhal/types";
import { getOperandTypeName, noPerformanceInfo } from "@nnhal/utils";
import { samePerformance } from "../compliance/capabilities.ts";
import { harmlessLoss, type Loss } from "./conversion.ts";

/** The entries that a HAL version lacks, which its callers do not ask for, and the entries that it has. */
export interface NewerCapabilities {
  readonly lost: readonly Loss[];
  isKnown(entry: OperandPerformance): boolean;
}

/** Operand types, IF and WHILE that are newer than a HAL version. */
export function newerCapabilities(capabilities: Capabilities, version: HalVersion): NewerCapabilities {
  const sinceOf = (type: number): HalVersion | undefined => {
    const name = operandTypeNames.get(type);
    return name === undefined ? undefined : operandTypes[name].since;
  };
  const isKnown = ({ type }: OperandPerformance) => {
    const since = sinceOf(type);
    return since !== undefined && since <= version;
  };
  const lost = capabilities.operandPerformance
    .filter((entry) => !isKnown(entry))
    .map(({ type }) => harmlessLoss("operandPerformance", getOperandTypeName(type), sinceOf(type)));
  for (const field of ["ifPerformance", "whilePerformance"] as const) {
    if (!samePerformance(capabilities[field], noPerformanceInfo)) lost.push(harmlessLoss(field, field, "1.3"));
  }
  return { lost, isKnown };
}
