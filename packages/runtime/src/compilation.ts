/**
 * Compilation: a model prepared for devices (NNAPI: ANeuralNetworksCompilation).
 */
import { steadyClock } from "@nnhal/driver-core/device";
import { costPolicy, type Plan, type Policy, plan } from "@nnhal/driver-core/partition";
import { type Device, ExecutionPreference, type Model as HalModel, type PreparedModel, Priority } from "@nnhal/types";
import type { Model } from "./model.ts";
import { plannedModel } from "./plan/planned-model.ts";
import { preparePlan } from "./plan/prepare.ts";
import { convertErrorStatusToResultCode, expect, NeuralNetworksError, ResultCode } from "./result-code.ts";

/** How to divide a model among devices. */
export interface CompilationOptions {
  /**
   * The device that takes every model. It comes last, wins ties, control flow is interpreted beside it, and steps that fail
   * on another device run again on it. Without one the list of devices is all there is, and nothing falls back.
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
}

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
  #prepared: { readonly plan: Plan; readonly preparedModel: PreparedModel } | undefined;

  constructor(model: Model, devices: readonly Device[], options: CompilationOptions = {}) {
    const { cpu } = options;
    this.#model = model.hal;
    this.#devices = cpu === undefined ? [...devices] : [...devices.filter((device) => device !== cpu), cpu];
    this.#options = options;
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
    try {
      this.#prepared = await this.#prepare();
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
    this.#prepared?.preparedModel.close();
    this.#prepared = undefined;
    this.#state = "closed";
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #prepare() {
    const { cpu, partition = 1, onFallback } = this.#options;
    if (cpu !== undefined && partition === 0) return this.#prepareOn([cpu]);
    try {
      return await this.#prepareOn(this.#devices);
    } catch (error) {
      const mayFallBack = cpu !== undefined && partition === 1 && this.#devices.length > 1;
      const isTheModels = error instanceof NeuralNetworksError && error.code === ResultCode.BAD_DATA;
      if (!mayFallBack || isTheModels) throw error;
      onFallback?.(`the whole model is prepared on ${cpu.name}: ${error instanceof Error ? error.message : error}`);
      return this.#prepareOn([cpu]);
    }
  }

  async #prepareOn(devices: readonly Device[]) {
    const { cpu, policy = costPolicy, partition = 1, onFallback } = this.#options;
    const preference = this.#preference;
    const divided = plan(this.#model, devices, { preference, policy, ...(cpu && { cpu: cpu.name }) });
    if ("unplannable" in divided) throw new NeuralNetworksError(ResultCode[divided.unplannable], divided.message);
    const options = { preference, priority: this.#priority };
    const prepared = await preparePlan(divided, devices, options);
    if ("status" in prepared) {
      const code = convertErrorStatusToResultCode(prepared.status);
      throw new NeuralNetworksError(code, prepared.message ?? `status ${prepared.status}`);
    }
    const [first, ...others] = prepared.steps;
    const device = first?.kind === "execution" ? devices[first.step.device] : undefined;
    const canFallBack = cpu !== undefined && partition === 1 && !(others.length === 0 && device === cpu);
    // One device for everything: its prepared model is the whole.
    if (first?.kind === "execution" && others.length === 0 && !canFallBack) {
      return { plan: divided, preparedModel: first.preparedModel };
    }
    const fallback = canFallBack ? { cpu, options, ...(onFallback && { onFallback }) } : undefined;
    return { plan: divided, preparedModel: plannedModel(prepared, steadyClock, fallback) };
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
