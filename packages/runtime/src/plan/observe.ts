/**
 * Log messages about plans, and the trace sections that devices are called in.
 */

import { messageOf } from "@nnhal/driver-core/guard";
import type { AskedDevice, Plan, Step } from "@nnhal/driver-core/partition";
import { elementAt, operationText } from "@nnhal/operations";
import { ErrorStatus, type Model, type PrepareOptions } from "@nnhal/types";
import type { Logger, Section } from "@nnhal/utils";
import { logGraph } from "#log-graph";
import type { GuardedDevice, GuardedPrepareResult } from "../guard/device.ts";

/** Logs the device of each operation with the reason, and the model of each step. */
export function logPlan(plan: Plan, log: Logger): void {
  if (!log.VLOG_IS_ON("COMPILATION")) return;
  for (const [index, { reason }] of plan.choices.entries()) {
    const { main, extensionNameToPrefix } = plan.model;
    const name = operationText(elementAt(main.operations, index).type, extensionNameToPrefix);
    log.VLOG("COMPILATION", `operation ${index + 1} (${name}): ${reason}`);
  }
  for (const [index, step] of plan.steps.entries()) {
    const text = `step ${index + 1}: ${stepText(step, plan)}`;
    log.VLOG("COMPILATION", text);
    if (step.kind === "execution") logGraph(text, step.model, log, "COMPILATION");
  }
}

/** A step in words: its operations and its device. */
export function stepText(step: Step, { devices }: Pick<Plan, "devices">): string {
  if (step.kind === "execution") return `${operationsText(step.operations)} on ${devices[step.device]}`;
  return `operation ${step.operation + 1} (${step.kind.toUpperCase()}), interpreted`;
}

function operationsText(operations: readonly number[]): string {
  const first = elementAt(operations, 0);
  const last = elementAt(operations, operations.length - 1);
  if (first === last) return `operation ${first + 1}`;
  const isRun = operations.every((operation, place) => operation === first + place);
  return isRun
    ? `operations ${first + 1} to ${last + 1}`
    : `operations ${operations.map((operation) => operation + 1).join(", ")}`;
}

/** Prepares a model on a device. */
export type PrepareModel = (model: Model, options: PrepareOptions) => Promise<GuardedPrepareResult>;

/** Prepares models on a device within a section of the runtime. */
export function prepareWithin(section: Section, prepareModel: PrepareModel): PrepareModel {
  return (model, options) => section.run(() => prepareModel(model, options));
}

/** A device as planning sees it. If it does not report its support or performance, that is logged once. */
export function observeDevice(device: GuardedDevice, log: Logger): AskedDevice {
  const { name } = device;
  const reported = new Set<string>();
  const report = ({ status, message = `status ${status}` }: { status: ErrorStatus; message?: string }, so: string) => {
    if (status === ErrorStatus.NONE || reported.has(message)) return;
    reported.add(message);
    log.warning(`device ${name} ${so}: ${message}`);
  };
  return {
    name,
    getCapabilities() {
      const answer = device.getCapabilities();
      report(answer, "counts as slower than all others");
      return answer;
    },
    getSupportedExtensions: () => device.getSupportedExtensions(),
    async getSupportedOperations(model) {
      const answer = await device.getSupportedOperations(model);
      report(answer, "supports no operation of the model");
      return answer;
    },
  };
}

/** A listener of the application whose errors are logged. */
export function listenerOf<Value>(name: string, listener: (value: Value) => void, log: Logger): (value: Value) => void {
  return (value) => {
    try {
      listener(value);
    } catch (error) {
      log.error(`${name} threw: ${messageOf(error)}`);
    }
  };
}
