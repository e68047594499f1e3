/** Preparation of a step that one device executes. */
import type { ExecutionStep } from "@nnhal/driver-core/partition";
import { elementAt } from "@nnhal/operations";
import type { Outcome, PrepareOptions } from "@nnhal/types";
import type { GuardedDevice } from "../guard/device.ts";
import type { PrepareModel } from "./observe.ts";
import type { PreparedExecution } from "./prepared-plan.ts";

/** A device, and a function that prepares a model on it. */
export interface Preparer {
  readonly device: GuardedDevice;
  readonly prepare: PrepareModel;
}

/** Prepares the model of a step on the step's device. A failure names the device. */
export async function prepareExecution(
  step: ExecutionStep,
  devices: readonly Preparer[],
  options: PrepareOptions,
): Promise<PreparedExecution | Outcome> {
  const { device, prepare } = elementAt(devices, step.device);
  const { status, message = `status ${status}`, preparedModel } = await prepare(step.model, options);
  if (preparedModel !== null) return { kind: "execution", step, device, preparedModel };
  return { status, message: `${device.name}: ${message}` };
}
