/**
 * Validation of a driver's capabilities (HAL Capabilities, PerformanceInfo).
 */
import { type Capabilities, OperandType, type PerformanceInfo } from "@nnhal/types";
import { collectIssues, type Issue, type IssueList, show } from "./issues.ts";
import { isList, isObject } from "./structure.ts";
import { knownOperandType } from "./type-ranges.ts";

const performances = [
  "relaxedFloat32toFloat16PerformanceScalar",
  "relaxedFloat32toFloat16PerformanceTensor",
  "ifPerformance",
  "whilePerformance",
] as const satisfies readonly (keyof Capabilities)[];

/** The rules that capabilities break; none for valid ones. Never throws. */
export function capabilitiesIssues(capabilities: Capabilities): Issue[] {
  return collectIssues("capabilities", undefined, (issues) => checkCapabilities(capabilities, issues));
}

/** Returns whether capabilities are valid. */
export function validateCapabilities(capabilities: Capabilities): boolean {
  return capabilitiesIssues(capabilities).length === 0;
}

function checkCapabilities(capabilities: Capabilities, issues: IssueList): void {
  if (!isObject(capabilities)) {
    issues.add("structure", "capabilities", `the capabilities are ${show(capabilities)}`);
    return;
  }
  for (const field of performances) checkPerformance(issues, capabilities[field], field);
  const { operandPerformance } = capabilities;
  if (!isList(operandPerformance)) {
    const problem = `operandPerformance: expected an array, got ${show(operandPerformance)}`;
    issues.add("structure", "operandPerformance", problem);
    return;
  }
  let last = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < operandPerformance.length && !issues.isFull(); index++) {
    const entry = operandPerformance[index];
    const path = `operandPerformance[${index}]`;
    if (!isObject(entry)) {
      issues.add("structure", path, `the entry is ${show(entry)}`);
      continue;
    }
    const { type, info } = entry;
    if (knownOperandType(type) === undefined || type === OperandType.SUBGRAPH) {
      issues.add(
        "capabilities-type",
        `${path}.type`,
        `${knownOperandType(type)?.name ?? show(type)} has no performance`,
      );
    } else if (type <= last) {
      issues.add("capabilities-order", `${path}.type`, `type ${type} stands after type ${last}`);
    } else last = type;
    checkPerformance(issues, info, `${path}.info`);
  }
}

function checkPerformance(issues: IssueList, info: PerformanceInfo, path: string): void {
  if (!isObject(info)) {
    issues.add("structure", path, `the performance is ${show(info)}`);
    return;
  }
  for (const field of ["execTime", "powerUsage"] as const) {
    if (typeof info[field] === "number" && info[field] > 0) continue;
    const problem = `${field}: expected a positive number, got ${show(info[field])}`;
    issues.add("capabilities-performance", `${path}.${field}`, problem);
  }
}
