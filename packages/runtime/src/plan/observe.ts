/**
 * What the runtime says of plans, and how devices find the section that they are called from.
 */
import type { Plan, Step } from "@nnhal/driver-core/partition";
import { type Device, operationTypeNames } from "@nnhal/types";
import { graphDump, type Logger, logStream, type Section } from "@nnhal/utils";

/** Says which device runs which operations and why, and shows what each step's device is to prepare. */
export function logPlan(plan: Plan, log: Logger): void {
  if (!log.VLOG_IS_ON("COMPILATION")) return;
  for (const [index, { reason }] of plan.choices.entries()) {
    const { type } = plan.model.main.operations[index];
    log.VLOG("COMPILATION", `operation ${index} (${operationTypeNames.get(type) ?? type}): ${reason}`);
  }
  for (const [index, step] of plan.steps.entries()) {
    const text = `step ${index}: ${stepText(step, plan)}`;
    log.VLOG("COMPILATION", text);
    if (step.kind === "execution") graphDump(text, step.model, logStream(log, "COMPILATION"));
  }
}

/** What a step does, and where. */
export function stepText(step: Step, { devices }: Pick<Plan, "devices">): string {
  if (step.kind === "execution") return `${operationsText(step.operations)} on ${devices[step.device]}`;
  return `operation ${step.operation} (${step.kind.toUpperCase()}), interpreted`;
}

function operationsText(operations: readonly number[]): string {
  const [first] = operations;
  const last = operations[operations.length - 1];
  if (first === last) return `operation ${first}`;
  const isRun = operations.every((operation, place) => operation === first + place);
  return isRun ? `operations ${first} to ${last}` : `operations ${operations.join(", ")}`;
}

/** Has a device prepare models with its sections in one of the runtime's. */
export function preparingIn(section: Section, prepareModel: Device["prepareModel"]): Device["prepareModel"] {
  return (model, options) => section.run(() => prepareModel(model, options));
}
