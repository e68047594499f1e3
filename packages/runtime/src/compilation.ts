/**
 * Compilation: a model prepared for devices (NNAPI: ANeuralNetworksCompilation).
 */

import type { Plan, Unplannable } from "@nnhal/driver-core/partition";
import {
  BYTE_SIZE_OF_CACHE_TOKEN,
  type Device,
  DeviceStatus,
  ErrorStatus,
  ExecutionPreference,
  type Model as HalModel,
  type PreparedModel,
  Priority,
} from "@nnhal/types";
import { inSection, type Logger, loadOnce, makeDeadline, modelSummary, type Tracer, whenCollected } from "@nnhal/utils";
import { steadyClock } from "@nnhal/utils/time";
import type { Caching } from "./caching.ts";
import { expectRight, timeoutOf } from "./checks.ts";
import { close } from "./close.ts";
import type { CompiledModel, ExecutionTarget } from "./compiled-model.ts";
import { divideOptions, divisionGiven } from "./divide-options.ts";
import { describe, expectGiven, expectKind } from "./given.ts";
import type { GuardedDevice } from "./guard/device.ts";
import type { Model } from "./model.ts";
import type { OperandFacts } from "./operand-facts.ts";
import {
  type CheckedDivideOptions,
  type Divided,
  type DivideOptions,
  devicesIn,
  divideAndPrepare,
  type PrepareParts,
} from "./plan/divide.ts";
import type { PrepareModel } from "./plan/observe.ts";
import { rehearse } from "./rehearse.ts";
import { convertErrorStatusToResultCode, expect, NeuralNetworksError, ResultCode } from "./result-code.ts";

const ofCaches = loadOnce(() => import("./caching.ts"));

/** Options of dividing a model among devices. */
export type CompilationOptions = DivideOptions;

/**
 * A compilation of a finished model for one or several devices. Settings first, then `finish`, then executions.
 *
 * Throws a NeuralNetworksError: BAD_STATE for a model that is not finished and for a call out of turn, BAD_DATA for an
 * argument that breaks a rule, UNEXPECTED_NULL for one that is missing.
 */
export class Compilation implements CompiledModel {
  readonly #source: Model;
  readonly #devices: readonly GuardedDevice[];
  readonly #options: CheckedDivideOptions;
  #preference: ExecutionPreference = ExecutionPreference.FAST_SINGLE_ANSWER;
  #priority: Priority = Priority.MEDIUM;
  #timeout: bigint | undefined;
  #caching: Caching | undefined;
  #state: "open" | "finishing" | "finished" | "failed" | "closed" = "open";
  #prepared: Divided | undefined;
  /** The target of executions, made for the first of them. */
  #target: ExecutionTarget | undefined;
  /** Executions that are running. */
  #loans = 0;
  #toClose: PreparedModel | undefined;
  #cancelFinalizer = () => {};
  /** For this package: its executions use the logger, the tracer and the clock. */
  readonly log: Logger;
  readonly trace: Tracer;
  readonly now: () => bigint;

  constructor(model: Model, devices: readonly Device[], options: CompilationOptions = {}) {
    const what = "Compilation";
    expectKind(model, "Model", what, "model");
    const { devices: all, cpu, options: checked } = divisionGiven(devices, options, what, divideOptions);
    const { now = steadyClock, log = model.log, trace = model.trace } = checked;
    void model.hal;
    this.#source = model;
    this.#devices = all;
    this.log = log;
    this.trace = trace;
    this.now = now;
    const { cpu: _, ...others } = checked;
    this.#options = { ...others, log, trace, now, ...(cpu && { cpu }) };
  }

  /** Sets the goal of optimisation. Default: FAST_SINGLE_ANSWER. */
  setPreference(preference: ExecutionPreference): void {
    this.#expectOpen("setPreference");
    const known = Object.values<number>(ExecutionPreference).includes(preference);
    expectRight(known, "setPreference", "an execution preference", preference);
    this.#preference = preference;
  }

  /** Sets the importance among the compilations of this process. Default: MEDIUM. */
  setPriority(priority: Priority): void {
    this.#expectOpen("setPriority");
    const known = Object.values<number>(Priority).includes(priority);
    expectRight(known, "setPriority", "a priority", priority);
    this.#priority = priority;
  }

  /**
   * Sets the maximum duration of `finish` in nanoseconds; 0n: no limit, the default. Only for one explicit device: BAD_DATA
   * otherwise. `finish` can then reject with MISSED_DEADLINE_TRANSIENT or MISSED_DEADLINE_PERSISTENT.
   */
  setTimeout(nanoseconds: bigint): void {
    this.#expectOpen("setTimeout");
    this.expectOneExplicitDevice("setTimeout");
    this.#timeout = timeoutOf(nanoseconds, "setTimeout");
  }

  /**
   * Keeps prepared models in files of a directory, and loads them from there the next time. `token`: 32 bytes that identify
   * the model within the application; the devices and settings that the result depends on are added to it. The directory must
   * exist. If it or a file cannot be used, nothing is kept, and `finish` does not fail.
   */
  setCaching(directory: string, token: Uint8Array): void {
    const what = "setCaching";
    this.#expectOpen(what);
    expectGiven(directory, what, "directory");
    expectGiven(token, what, "token");
    const isPath = typeof directory === "string";
    expect(isPath, ResultCode.BAD_DATA, () => `${what}: directory is ${describe(directory)}, not a path`);
    const needed = BYTE_SIZE_OF_CACHE_TOKEN;
    const isToken = token instanceof Uint8Array;
    expect(isToken, ResultCode.BAD_DATA, () => `${what}: token is ${describe(token)}, not a Uint8Array of ${needed}`);
    const { length } = token;
    expect(length === needed, ResultCode.BAD_DATA, () => `${what}: the token has ${length} bytes, not ${needed}`);
    this.#caching = { directory, token: token.slice() };
  }

  /**
   * Divides the model among the devices and prepares the parts. Rejects with BAD_DATA if no device supports an operation
   * (the message names it and the reasons), with DEAD_OBJECT if a device is gone.
   */
  async finish(): Promise<void> {
    this.#expectOpen("finish");
    this.#state = "finishing";
    this.log.VLOG("COMPILATION", () => {
      const names = this.#devices.map(({ name }) => name).join(", ");
      return `compile ${modelSummary(this.hal)} for ${names}`;
    });
    let prepared: Divided;
    try {
      prepared = await inSection(this.trace, "LR", "PC", "Compilation.finish", () => this.#prepare());
    } catch (error) {
      if (!this.#isClosed) this.#state = "failed";
      throw error;
    }
    await rehearse((model, devices) => new Compilation(model, devices));
    if (this.#isClosed) {
      prepared.preparedModel.close();
      throw new NeuralNetworksError(ResultCode.BAD_STATE, "finish: the compilation was closed meanwhile");
    }
    this.#prepared = prepared;
    this.#state = "finished";
    this.#cancelFinalizer = whenCollected(this, prepared.preparedModel, close);
  }

  /** Which device runs which operations, and why. Throws BAD_STATE before `finish`. */
  get plan(): Plan {
    return this.#expectFinished("plan").plan;
  }

  /** Names of the devices that run parts of the model, in the order of their first steps. Throws BAD_STATE before `finish`. */
  get deviceNames(): readonly string[] {
    return devicesIn(this.plan);
  }

  get isFinished(): boolean {
    return this.#state === "finished";
  }

  /** The model in the HAL's form. */
  get hal(): HalModel {
    return this.#source.hal;
  }

  /** For this package: returns the target of executions, which lives until `giveBack` even if the compilation is closed. */
  lend(): ExecutionTarget {
    const executable = this.executable;
    this.#loans++;
    return executable;
  }

  giveBack(): void {
    this.#loans--;
    this.#closeWhenIdle();
  }

  /** For this package: the current target of executions. Throws BAD_STATE before `finish`. */
  get executable(): ExecutionTarget {
    return this.#target ?? this.#targetOf(this.#expectFinished("an execution"));
  }

  /** For this package: whether the compilation is for an explicit list of devices, so that no execution falls back. */
  get isExplicit(): boolean {
    return this.#options.cpu === undefined;
  }

  /** For this package: the devices that run parts of the model. */
  get usedDevices(): readonly GuardedDevice[] {
    const names = new Set(this.deviceNames);
    return this.#devices.filter(({ name }) => names.has(name));
  }

  /** For this package: see `Divided.rolesOf`. */
  get rolesOf(): Divided["rolesOf"] {
    return this.#expectFinished("a memory").rolesOf;
  }

  /** For this package: facts of an operand type of the model; undefined if it is unknown. */
  factsOf(type: number): OperandFacts | undefined {
    return this.#source.factsOf(type);
  }

  /** For this package: throws BAD_DATA unless the compilation is for one explicit device, as Android requires for some calls. */
  expectOneExplicitDevice(what: string): void {
    const count = this.#devices.length;
    expect(
      this.isExplicit && count === 1,
      ResultCode.BAD_DATA,
      () =>
        `${what}: this needs a compilation for one explicit device; there are ${count}${this.isExplicit ? "" : " with fallback"}`,
    );
  }

  /** Frees the prepared models once running executions have ended. */
  close(): void {
    this.#cancelFinalizer();
    this.#toClose ??= this.#prepared?.preparedModel;
    this.#prepared = undefined;
    this.#target = undefined;
    this.#state = "closed";
    this.#closeWhenIdle();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #closeWhenIdle(): void {
    const prepared = this.#toClose;
    if (prepared === undefined || this.#loans > 0) return;
    this.#toClose = undefined;
    inSection(this.trace, "LR", "PT", "Compilation.close", () => prepared.close());
  }

  get #isClosed(): boolean {
    return this.#state === "closed";
  }

  async #prepare(): Promise<Divided> {
    const deadline = makeDeadline(this.#timeout, this.now());
    const options = {
      preference: this.#preference,
      priority: this.#priority,
      ...(deadline !== undefined && { deadline }),
    };
    let dead: GuardedDevice | undefined;
    const prepareParts: PrepareParts = (plan, device) => {
      const prepare = this.#preparing(plan, device);
      return async (model, partOptions) => {
        const result = await prepare(model, partOptions);
        const isGone = result.status === ErrorStatus.DEVICE_UNAVAILABLE && device.getStatus() === DeviceStatus.OFFLINE;
        if (isGone) dead ??= device;
        return result;
      };
    };
    const divided = await divideAndPrepare(this.hal, this.#devices, this.#options, options, prepareParts);
    if ("plan" in divided) return divided;
    if ("unplannable" in divided) throw unplannableError(divided);
    const { status, message = `status ${status}` } = divided;
    if (dead !== undefined) throw new NeuralNetworksError(ResultCode.DEAD_OBJECT, `finish: ${message}`);
    throw new NeuralNetworksError(convertErrorStatusToResultCode(status), `finish: ${message}`);
  }

  #preparing(plan: Plan, device: GuardedDevice): PrepareModel {
    const caching = this.#caching;
    if (caching === undefined) return (model, options) => device.prepareModel(model, options);
    let parts: ReadonlyMap<HalModel, readonly number[]> | undefined;
    const { log } = this;
    return async (model, options) => {
      // A bundle for a browser, which has no files, does not load this.
      const { partsOf, prepareCached } = await ofCaches();
      parts ??= partsOf(plan);
      const part = parts.get(model);
      return part === undefined
        ? device.prepareModel(model, options)
        : prepareCached(device, model, options, { ...caching, part, log });
    };
  }

  #expectOpen(what: string): void {
    expect(this.#state === "open", ResultCode.BAD_STATE, () => `${what}: the compilation is ${this.#state}`);
  }

  #targetOf({ preparedModel, whole, canFallBack }: Divided): ExecutionTarget {
    const isObserved = this.#options.onStep !== undefined;
    this.#target = { preparedModel, canFallBack, ...(whole && !isObserved && { whole }) };
    return this.#target;
  }

  #expectFinished(what: string) {
    expect(this.#prepared !== undefined, ResultCode.BAD_STATE, () => `${what}: the compilation is ${this.#state}`);
    return this.#prepared;
  }
}

function unplannableError({ unplannable, message, places }: Unplannable): NeuralNetworksError {
  return new NeuralNetworksError(ResultCode[unplannable], message, places);
}
