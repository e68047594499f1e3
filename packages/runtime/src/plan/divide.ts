/**
 * Divides a model among devices by a policy, prepares the parts, and adds fallback to the CPU if that is allowed.
 */

import { askAndPlan, costPolicy, type Plan, type Policy, type Unplannable } from "@nnhal/driver-core/partition";
import { elementAt } from "@nnhal/operations";
import {
  type Device,
  ErrorStatus,
  type Model,
  OperationType,
  type Outcome,
  type PreparedModel,
  type PrepareOptions,
} from "@nnhal/types";
import {
  defaultLogger,
  inSection,
  isExtensionOperationType,
  type Logger,
  loadOnce,
  modelSummary,
  noTracer,
  type Section,
  type Tracer,
} from "@nnhal/utils";
import { endBy, steadyClock, systemTimer, type Timer } from "@nnhal/utils/time";
import { limitOf, refuseGivenUp, type Watch } from "../bounds.ts";
import type { GuardedDevice } from "../guard/device.ts";
import type { GuardedModel } from "../guard/prepared-model.ts";
import { watchModel } from "../watch.ts";
import { deviceForm } from "./device-form.ts";
import type { DeviceRole } from "./device-role.ts";
import { listenerOf, logPlan, observeDevice, type PrepareModel, prepareWithin } from "./observe.ts";
import { prepareExecution } from "./prepare-execution.ts";
import type { StepTime } from "./run-options.ts";
import { usesOf } from "./uses.ts";

// A model that one device runs needs neither: a bundle for a browser loads them when a model is divided.
const preparing = loadOnce(() => import("./prepare.ts"));
const plannedModels = loadOnce(() => import("./planned-model.ts"));

/** Options of dividing a model among devices. */
export interface DivideOptions {
  /**
   * The device that supports every model. It comes last and wins ties. With it the runtime can interpret control flow, and steps
   * that fail on another device run again on the CPU, except in models with operations of vendors that the CPU lacks. Default: none, so that only
   * the listed devices are used and nothing falls back.
   */
  readonly cpu?: Device | undefined;
  /** The quantity that division minimises. Default: `costPolicy`. */
  readonly policy?: Policy | undefined;
  /**
   * 0: the whole model on the CPU. 1: divided, with fallback to the CPU. 2: divided, without fallback. Default: with a
   * CPU the property `debug.nn.partition` (environment variable NNHAL_PARTITION), without one 1.
   */
  readonly partition?: 0 | 1 | 2 | undefined;
  /** Called when the compilation or an execution falls back to the CPU. */
  readonly onFallback?: ((message: string) => void) | undefined;
  /** Called after each step, also inside interpreted control flow, before the execution ends. */
  readonly onStep?: ((time: StepTime) => void) | undefined;
  /** Runs every operation in a separate step on its device, to time it. Default: false. */
  readonly separateOperations?: boolean | undefined;
  /** Logger for the compilation and its executions. Default: the model's, else the default logger. */
  readonly log?: Logger | undefined;
  /** Default: the model's, else off. */
  readonly trace?: Tracer | undefined;
  /** The steady clock that timeouts and deadlines count on, in nanoseconds. Default: the process's. */
  readonly now?: (() => bigint) | undefined;
  /** Waits until timeouts have passed. Default: the system's. */
  readonly timer?: Timer | undefined;
  /**
   * Nanoseconds after which the runtime gives up a compilation or an execution that a device does not end, with
   * MISSED_DEADLINE_TRANSIENT. Behind fences it counts from their signal. Default: none; without a timeout, a call that a
   * device never answers never ends.
   */
  readonly watchdog?: bigint | undefined;
}

/** The options, with the CPU behind the guard. */
export interface CheckedDivideOptions extends Omit<DivideOptions, "cpu"> {
  readonly cpu?: GuardedDevice | undefined;
}

/** A model that is ready to run, and how it was divided. */
export interface Divided {
  readonly plan: Plan;
  readonly preparedModel: PreparedModel;
  /** The prepared model of the device that has the whole model; absent if no device has it. */
  readonly whole?: GuardedModel;
  /** True if failed work may run again on the CPU. */
  readonly canFallBack: boolean;
  /**
   * The roles of an input or output of the model on devices, so that one of them can allocate memory for it (`allocateFor`):
   * empty if no device uses it, null if the runtime itself uses it, such as the condition of an interpreted IF.
   */
  rolesOf(side: "input" | "output", index: number): readonly DeviceRole[] | null;
}

/** Prepares the parts of a plan that belong to a device. */
export type PrepareParts = (plan: Plan, device: GuardedDevice) => PrepareModel;

/** Divides a valid model among devices and prepares the parts. `devices`: in planning order. */
export async function divideAndPrepare(
  model: Model,
  devices: readonly GuardedDevice[],
  options: CheckedDivideOptions,
  prepareOptions: PrepareOptions,
  prepareParts: PrepareParts = (_plan, device) => (part, partOptions) => device.prepareModel(part, partOptions),
): Promise<Divided | Unplannable | Outcome> {
  const { trace = noTracer } = options;
  const watch = watchOf(options);
  const { deadline } = prepareOptions;
  const limit = limitOf(watch, deadline);
  const work = inSection(trace, "LR", "PC", "divide and prepare", (section) =>
    divideAndPrepareIn(section, deviceForm(model), devices, logListenerErrors(options), prepareOptions, prepareParts),
  );
  if (limit === undefined) return work;
  return endBy<Divided | Unplannable | Outcome>(work, limit, watch, () => {
    // A result that comes too late is freed.
    void work.then((divided) => "plan" in divided && divided.preparedModel.close());
    return refuseGivenUp("preparing", deadline);
  });
}

/** The options, with listeners whose errors are logged. */
function logListenerErrors({ onFallback, onStep, ...options }: CheckedDivideOptions): CheckedDivideOptions {
  const { log = defaultLogger } = options;
  return {
    ...options,
    ...(onFallback && { onFallback: listenerOf("onFallback", onFallback, log) }),
    ...(onStep && { onStep: listenerOf("onStep", onStep, log) }),
  };
}

function watchOf({ now = steadyClock, timer = systemTimer, watchdog }: CheckedDivideOptions): Watch {
  return { now, timer, ...(watchdog !== undefined && { watchdog }) };
}

async function divideAndPrepareIn(
  section: Section,
  model: Model,
  devices: readonly GuardedDevice[],
  options: CheckedDivideOptions,
  prepareOptions: PrepareOptions,
  prepareParts: PrepareParts,
): Promise<Divided | Unplannable | Outcome> {
  const { cpu, partition = 1, onFallback, log = defaultLogger } = options;
  if (cpu !== undefined && partition === 0)
    return prepareOn(section, model, [cpu], options, prepareOptions, prepareParts);
  const divided = await prepareOn(section, model, devices, options, prepareOptions, prepareParts);
  if ("plan" in divided) return divided;
  const mayFallBack = cpu !== undefined && partition === 1 && devices.length > 1 && (await isForCpu(model, cpu));
  // The runtime has validated the model: a device that calls it invalid has failed. If no device supports an operation, neither
  // does the CPU.
  const isTheModels = "unplannable" in divided && divided.unplannable === "BAD_DATA";
  if (!mayFallBack || isTheModels) return divided;
  const fallback = `the whole model is prepared on ${cpu.name}: ${divided.message}`;
  log.VLOG("COMPILATION", fallback);
  onFallback?.(fallback);
  return prepareOn(section, model, [cpu], options, prepareOptions, prepareParts);
}

async function prepareOn(
  section: Section,
  model: Model,
  devices: readonly GuardedDevice[],
  options: CheckedDivideOptions,
  prepareOptions: PrepareOptions,
  prepareParts: PrepareParts,
): Promise<Divided | Unplannable | Outcome> {
  const { cpu, policy = costPolicy, partition = 1, onFallback, onStep, log = defaultLogger, trace } = options;
  const { preference } = prepareOptions;
  const chosen = await section.run(() =>
    askAndPlan(
      model,
      devices.map((device) => observeDevice(device, log)),
      {
        policy,
        ...(preference !== undefined && { preference }),
        ...(cpu && { cpu: cpu.name }),
        separateOperations: options.separateOperations,
      },
    ),
  );
  if ("unplannable" in chosen) return chosen;
  logPlan(chosen, log);
  log.VLOG("MANAGER", () => `${modelSummary(model)} goes to ${devicesIn(chosen).join(", ")}`);
  const preparers = devices.map((device) => ({
    device,
    prepare: prepareWithin(section, prepareParts(chosen, device)),
  }));
  const [only, ...others] = chosen.steps;
  const whole =
    only?.kind === "execution" && others.length === 0
      ? await prepareExecution(only, preparers, prepareOptions)
      : undefined;
  if (whole !== undefined && "status" in whole) return whole;
  const parts = async () => (await preparing()).preparePlan(chosen, preparers, prepareOptions, log, whole);
  const divided = whole === undefined ? await parts() : undefined;
  if (divided !== undefined && "status" in divided) return divided;
  const canFallBack =
    cpu !== undefined &&
    partition === 1 &&
    (await isForCpu(model, cpu)) &&
    (whole === undefined || devices[whole.step.device] !== cpu);
  const { inputIndexes, outputIndexes } = chosen.model.main;
  const uses = divided?.uses ?? usesOf(chosen, whole === undefined ? [] : [whole]);
  const rolesOf: Divided["rolesOf"] = (side, index) =>
    uses.get((side === "input" ? inputIndexes : outputIndexes)[index] ?? -1) ?? null;
  const watch = watchOf(options);
  const watchedWhole = whole && watchModel(whole.preparedModel, watch);
  // One device for everything: its prepared model is the whole.
  if (watchedWhole !== undefined && !canFallBack && onStep === undefined) {
    return { plan: chosen, preparedModel: watchedWhole, whole: watchedWhole, canFallBack, rolesOf };
  }
  const prepared = divided ?? (await parts());
  if ("status" in prepared) return prepared;
  // The CPU prepares when a step fails, after the deadline of this preparation.
  const fallback = canFallBack
    ? { cpu, options: { ...prepareOptions, deadline: undefined }, ...(onFallback && { onFallback }) }
    : undefined;
  const { plannedModel } = await plannedModels();
  const planned = plannedModel(prepared, watch.now, {
    ...(fallback && { fallback }),
    ...(onStep && { onStep }),
    ...(preference !== undefined && { preference }),
    log,
    ...(trace && { trace }),
  });
  const preparedModel = watchModel(planned, watch);
  return { plan: chosen, preparedModel, ...(watchedWhole && { whole: watchedWhole }), canFallBack, rolesOf };
}

/** Names of the devices that run parts of a plan, in the order of their first steps. */
export function devicesIn({ steps, devices }: Plan): string[] {
  const names = steps.flatMap((step) => {
    if (step.kind === "execution") return [elementAt(devices, step.device)];
    const [first, second] = step.kind === "if" ? [step.thenPlan, step.elsePlan] : [step.conditionPlan, step.bodyPlan];
    return [...devicesIn(first), ...devicesIn(second)];
  });
  return [...new Set(names)];
}

/**
 * Returns whether a model can fall back to the CPU. One with OEM_OPERATION cannot. One with operations of extensions
 * can if the CPU supports all of it, as the reference does if it was given the extensions.
 */
async function isForCpu(model: Model, cpu: GuardedDevice): Promise<boolean> {
  const uses = (isMeant: (type: number) => boolean) =>
    [model.main, ...model.referenced].some(({ operations }) => operations.some(({ type }) => isMeant(type)));
  if (uses((type) => type === OperationType.OEM_OPERATION)) return false;
  if (!uses(isExtensionOperationType)) return true;
  const { status, supported } = await cpu.getSupportedOperations(model);
  return status === ErrorStatus.NONE && supported.every(Boolean);
}
