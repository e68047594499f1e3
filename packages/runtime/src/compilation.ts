/**
 * Compilation: a model prepared for devices (NNAPI: ANeuralNetworksCompilation).
 */
import type { Plan } from "@nnhal/driver-core/partition";
import { type Device, ExecutionPreference, type Model as HalModel, type PreparedModel, Priority } from "@nnhal/types";
import { inSection, type Logger, modelSummary, type Tracer } from "@nnhal/utils";
import type { Model } from "./model.ts";
import { type Divided, type DivideOptions, divideAndPrepare, planningOrder } from "./plan/divide.ts";
import { convertErrorStatusToResultCode, expect, NeuralNetworksError, ResultCode } from "./result-code.ts";

/** How to divide a model among devices. */
export type CompilationOptions = DivideOptions;

/**
 * A compilation of a finished model for one or several devices. Settings first, then `finish`, then executions.
 *
 * Throws a NeuralNetworksError: BAD_STATE for a model that is not finished and for a call out of turn, BAD_DATA for an
 * argument that breaks a rule.
 */
export class Compilation {
  readonly #model: HalModel;
  readonly #devices: readonly Device[];
  readonly #options: CompilationOptions;
  #preference: ExecutionPreference = ExecutionPreference.FAST_SINGLE_ANSWER;
  #priority: Priority = Priority.MEDIUM;
  #state: "open" | "finishing" | "finished" | "failed" | "closed" = "open";
  #prepared: Divided | undefined;
  /** For the executions of this package. */
  readonly log: Logger;
  readonly trace: Tracer;

  constructor(model: Model, devices: readonly Device[], options: CompilationOptions = {}) {
    const { cpu } = options;
    this.#model = model.hal;
    this.#devices = planningOrder(devices, cpu);
    this.log = options.log ?? model.log;
    this.trace = options.trace ?? model.trace;
    this.#options = { ...options, log: this.log, trace: this.trace };
    expect(this.#devices.length > 0, ResultCode.BAD_DATA, () => "a compilation needs at least one device");
    expect(new Set(devices).size === devices.length, ResultCode.BAD_DATA, () => "a device is listed twice");
    expect(
      cpu !== undefined || options.partition !== 0,
      ResultCode.BAD_DATA,
      () => "partition 0 runs the whole model on the CPU, but there is none",
    );
  }

  /** What to optimise for. Default: FAST_SINGLE_ANSWER. */
  setPreference(preference: ExecutionPreference): void {
    this.#expectOpen("setPreference");
    const known = Object.values<number>(ExecutionPreference).includes(preference);
    expect(known, ResultCode.BAD_DATA, () => `setPreference: ${preference} is no execution preference`);
    this.#preference = preference;
  }

  /** Importance among the compilations of this process. Default: MEDIUM. */
  setPriority(priority: Priority): void {
    this.#expectOpen("setPriority");
    const known = Object.values<number>(Priority).includes(priority);
    expect(known, ResultCode.BAD_DATA, () => `setPriority: ${priority} is no priority`);
    this.#priority = priority;
  }

  /**
   * Divides the model among the devices and prepares the parts. Rejects with BAD_DATA where no device takes an operation,
   * naming it and the reasons.
   */
  async finish(): Promise<void> {
    this.#expectOpen("finish");
    this.#state = "finishing";
    this.log.VLOG("COMPILATION", () => {
      const names = this.#devices.map(({ name }) => name).join(", ");
      return `compile ${modelSummary(this.#model)} for ${names}`;
    });
    try {
      this.#prepared = await inSection(this.trace, "LR", "PC", "Compilation.finish", () => this.#prepare());
      this.#state = "finished";
    } catch (error) {
      this.#state = "failed";
      throw error;
    }
  }

  /** Which device runs which operations, and why. Throws BAD_STATE before `finish`. */
  get plan(): Plan {
    return this.#expectFinished("plan").plan;
  }

  /** Names of the devices that work on the model, in the order of their first steps. Throws BAD_STATE before `finish`. */
  get deviceNames(): readonly string[] {
    return devicesIn(this.plan);
  }

  /** For the executions of this package. Throws BAD_STATE before `finish`. */
  get preparedModel(): PreparedModel {
    return this.#expectFinished("an execution").preparedModel;
  }

  /** The model in the HAL's form. */
  get hal(): HalModel {
    return this.#model;
  }

  /** Frees what the devices hold. Executions under way end as they would. */
  close(): void {
    const prepared = this.#prepared?.preparedModel;
    inSection(this.trace, "LR", "PT", "Compilation.close", () => prepared?.close());
    this.#prepared = undefined;
    this.#state = "closed";
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #prepare(): Promise<Divided> {
    const options = { preference: this.#preference, priority: this.#priority };
    const divided = await divideAndPrepare(this.#model, this.#devices, this.#options, options);
    if ("plan" in divided) return divided;
    if ("unplannable" in divided) throw new NeuralNetworksError(ResultCode[divided.unplannable], divided.message);
    const { status, message = `status ${status}` } = divided;
    throw new NeuralNetworksError(convertErrorStatusToResultCode(status), message);
  }

  #expectOpen(what: string): void {
    expect(this.#state === "open", ResultCode.BAD_STATE, () => `${what}: the compilation is ${this.#state}`);
  }

  #expectFinished(what: string) {
    expect(this.#prepared !== undefined, ResultCode.BAD_STATE, () => `${what}: the compilation is ${this.#state}`);
    return this.#prepared;
  }
}

function devicesIn({ steps, devices }: Plan): string[] {
  const names = steps.flatMap((step) => {
    if (step.kind === "execution") return [devices[step.device]];
    const [first, second] = step.kind === "if" ? [step.thenPlan, step.elsePlan] : [step.conditionPlan, step.bodyPlan];
    return [...devicesIn(first), ...devicesIn(second)];
  });
  return [...new Set(names)];
}
