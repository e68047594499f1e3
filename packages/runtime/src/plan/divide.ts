/**
 * From a model and devices to something that runs: divided by a policy, prepared, and with the CPU behind it where that is
 * allowed.
 */
import { steadyClock } from "@nnhal/driver-core/device";
import {
  costPolicy,
  type Plan,
  type Policy,
  plan,
  separateOperations,
  type Unplannable,
} from "@nnhal/driver-core/partition";
import {
  type Device,
  ErrorStatus,
  type Model,
  OperationType,
  type Outcome,
  operationTypeNames,
  type PreparedModel,
  type PrepareOptions,
} from "@nnhal/types";
import { defaultLogger, inSection, type Logger, noTracer, type Section, type Tracer } from "@nnhal/utils";
import { logPlan, preparingIn } from "./observe.ts";
import { plannedModel } from "./planned-model.ts";
import { preparePlan } from "./prepare.ts";
import type { StepTime } from "./run.ts";
import { withSharedConstants } from "./shared-constants.ts";
import type { DeviceRole } from "./uses.ts";

/** How to divide a model among devices. */
export interface DivideOptions {
  /**
   * The device that takes every model. It comes last, wins ties, control flow is interpreted beside it, and steps that fail
   * on another device run again on it, but for models with operations of vendors, which it cannot know. Without one the
   * list of devices is all there is, and nothing falls back.
   */
  readonly cpu?: Device;
  /** What division minimises. Default: `costPolicy`. */
  readonly policy?: Policy;
  /**
   * Android's `debug.nn.partition`. 0: the whole model on the CPU. 1: divided, with fallback to the CPU. 2: divided, without
   * fallback. Default: 1.
   */
  readonly partition?: 0 | 1 | 2;
  /** Told where the compilation or an execution falls back to the CPU. */
  readonly onFallback?: (message: string) => void;
  /** Told of each step that ran, those inside interpreted control flow included, before the execution ends. */
  readonly onStep?: (time: StepTime) => void;
  /** Runs every operation in a step of its own, on the device that it would be on anyway, to time it. Default: false. */
  readonly separateOperations?: boolean;
  /** Takes what is to say of the compilation and its executions. Default: the model's, else the default logger. */
  readonly log?: Logger;
  /** Default: the model's, else off. */
  readonly trace?: Tracer;
}

/** A model that is ready to run, and how it was divided. */
export interface Divided {
  readonly plan: Plan;
  readonly preparedModel: PreparedModel;
  /** What the device prepared that has the whole model, where one has. */
  readonly whole?: PreparedModel;
  /** Whether what fails may run again on the CPU. */
  readonly canFallBack: boolean;
  /**
   * What devices use an input or output of the model as, so that one of them can allocate memory for it (`allocateFor`):
   * empty where nobody does, null where the runtime itself does, such as for the condition of an interpreted IF.
   */
  rolesOf(side: "input" | "output", index: number): readonly DeviceRole[] | null;
}

/** How a device prepares its parts of a plan. */
export type PrepareParts = (plan: Plan, device: Device) => Device["prepareModel"];

/** The devices in the order in which they are planned for: the CPU last. */
export function planningOrder(devices: readonly Device[], cpu: Device | undefined): readonly Device[] {
  return cpu === undefined ? [...devices] : [...devices.filter((device) => device !== cpu), cpu];
}

/** Divides a valid model among devices and prepares the parts. `devices`: in planning order. */
export async function divideAndPrepare(
  model: Model,
  devices: readonly Device[],
  options: DivideOptions,
  prepareOptions: PrepareOptions,
  prepareParts: PrepareParts = (_plan, device) => (part, partOptions) => device.prepareModel(part, partOptions),
): Promise<Divided | Unplannable | Outcome> {
  const { trace = noTracer } = options;
  return inSection(trace, "LR", "PC", "divide and prepare", (section) =>
    divideAndPrepareIn(section, withSharedConstants(model), devices, options, prepareOptions, prepareParts),
  );
}

async function divideAndPrepareIn(
  section: Section,
  model: Model,
  devices: readonly Device[],
  options: DivideOptions,
  prepareOptions: PrepareOptions,
  prepareParts: PrepareParts,
): Promise<Divided | Unplannable | Outcome> {
  const { cpu, partition = 1, onFallback, log = defaultLogger } = options;
  if (cpu !== undefined && partition === 0)
    return prepareOn(section, model, [cpu], options, prepareOptions, prepareParts);
  const divided = await prepareOn(section, model, devices, options, prepareOptions, prepareParts);
  if ("plan" in divided) return divided;
  const mayFallBack = cpu !== undefined && partition === 1 && devices.length > 1 && !isVendors(model);
  const isTheModels =
    "unplannable" in divided ? divided.unplannable === "BAD_DATA" : divided.status === ErrorStatus.INVALID_ARGUMENT;
  if (!mayFallBack || isTheModels) return divided;
  const fallback = `the whole model is prepared on ${cpu.name}: ${divided.message}`;
  log.VLOG("COMPILATION", fallback);
  onFallback?.(fallback);
  return prepareOn(section, model, [cpu], options, prepareOptions, prepareParts);
}

async function prepareOn(
  section: Section,
  model: Model,
  devices: readonly Device[],
  options: DivideOptions,
  prepareOptions: PrepareOptions,
  prepareParts: PrepareParts,
): Promise<Divided | Unplannable | Outcome> {
  const { cpu, policy = costPolicy, partition = 1, onFallback, onStep, log = defaultLogger, trace } = options;
  const { preference } = prepareOptions;
  const best = section.run(() =>
    plan(model, devices, {
      policy,
      ...(preference !== undefined && { preference }),
      ...(cpu && { cpu: cpu.name }),
    }),
  );
  if ("unplannable" in best) return best;
  const chosen = options.separateOperations ? separateOperations(best) : best;
  if ("unplannable" in chosen) return chosen;
  logPlan(chosen, log);
  const preparers = devices.map((device) => ({ device, prepare: preparingIn(section, prepareParts(chosen, device)) }));
  const prepared = await preparePlan(chosen, preparers, prepareOptions);
  if ("status" in prepared) return prepared;
  const [first, ...others] = prepared.steps;
  const whole = first?.kind === "execution" && others.length === 0 ? first : undefined;
  const canFallBack =
    cpu !== undefined &&
    partition === 1 &&
    !isVendors(model) &&
    (whole === undefined || devices[whole.step.device] !== cpu);
  const { inputIndexes, outputIndexes } = chosen.model.main;
  const rolesOf: Divided["rolesOf"] = (side, index) =>
    prepared.uses.get((side === "input" ? inputIndexes : outputIndexes)[index]) ?? null;
  // One device for everything: its prepared model is the whole.
  if (whole !== undefined && !canFallBack && onStep === undefined) {
    return { plan: chosen, preparedModel: whole.preparedModel, whole: whole.preparedModel, canFallBack, rolesOf };
  }
  const fallback = canFallBack ? { cpu, options: prepareOptions, ...(onFallback && { onFallback }) } : undefined;
  const preparedModel = plannedModel(prepared, steadyClock, {
    ...(fallback && { fallback }),
    ...(onStep && { onStep }),
    ...(preference !== undefined && { preference }),
    log,
    ...(trace && { trace }),
  });
  return { plan: chosen, preparedModel, ...(whole && { whole: whole.preparedModel }), canFallBack, rolesOf };
}

/** Whether a model has operations that no CPU can know: those of extensions and OEM_OPERATION. */
function isVendors({ main, referenced }: Model): boolean {
  return [main, ...referenced].some(({ operations }) =>
    operations.some(({ type }) => type === OperationType.OEM_OPERATION || !operationTypeNames.has(type)),
  );
}
