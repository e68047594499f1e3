/**
 * Compilation: a model prepared for devices (NNAPI: ANeuralNetworksCompilation).
 */

import type { Plan } from "@nnhal/driver-core/partition";
import { type Device, ExecutionPreference, type Model as HalModel, Priority } from "@nnhal/types";
import { inSection, type Logger, modelSummary, type Tracer, whenCollected } from "@nnhal/utils";
import { steadyClock } from "@nnhal/utils/time";
import { expectRight, timeoutOf } from "./checks.ts";
import { close } from "./close.ts";
import type { CompiledModel, ExecutionTarget } from "./compiled-model.ts";
import { divideOptions, divisionGiven } from "./divide-options.ts";
import type { FinishedModel } from "./finished-model.ts";
import { expectKind } from "./given.ts";
import type { GuardedDevice } from "./guard/device.ts";
import { LentModel } from "./lent-model.ts";
import type { Model } from "./model.ts";
import type { OperandFacts } from "./operand-facts.ts";
import { type CheckedDivideOptions, type Divided, type DivideOptions, devicesIn } from "./plan/divide.ts";
import { type CompilationSettings, prepareCompilation, takeCaching } from "./prepare-compilation.ts";
import { rehearse } from "./rehearse.ts";
import { expect, NeuralNetworksError, ResultCode } from "./result-code.ts";

type CompilationState = "open" | "finishing" | "finished" | "failed" | "closed";

/** The observers and the clock of a compilation. */
type Observers = Pick<CompiledModel, "log" | "trace" | "now">;

/** Options of dividing a model among devices. */
export type CompilationOptions = DivideOptions;

/**
 * A compilation of a finished model for one or several devices. Settings first, then `finish`, then executions.
 *
 * Throws a NeuralNetworksError: BAD_STATE for a model that is not finished and for a call out of turn, BAD_DATA for an
 * argument that breaks a rule, UNEXPECTED_NULL for one that is missing.
 */
export class Compilation implements CompiledModel {
  readonly #source: Model | FinishedModel;
  /** For this package: all devices. */
  readonly devices: readonly GuardedDevice[];
  readonly #options: CheckedDivideOptions & Observers;
  /** For this package: they change until `finish`. */
  readonly settings: CompilationSettings = {
    preference: ExecutionPreference.FAST_SINGLE_ANSWER,
    priority: Priority.MEDIUM,
  };
  #state: CompilationState = "open";
  #lent: LentModel | undefined;
  #cancelFinalizer = () => {};
  /** For this package: its executions use the logger, the tracer and the clock. */
  readonly log: Logger;
  readonly trace: Tracer;
  readonly now: () => bigint;

  constructor(model: Model | FinishedModel, devices: readonly Device[], options: CompilationOptions = {}) {
    const given = takeDevices(model, devices, options);
    this.#source = model;
    this.devices = given.devices;
    this.#options = given.options;
    ({ log: this.log, trace: this.trace, now: this.now } = given.options);
  }

  /** Sets the goal of optimisation. Default: FAST_SINGLE_ANSWER. */
  setPreference(preference: ExecutionPreference): void {
    this.expectOpen("setPreference");
    expectOneOf(ExecutionPreference, preference, "setPreference", "an execution preference");
    this.settings.preference = preference;
  }

  /** Sets the importance among the compilations of this process. Default: MEDIUM. */
  setPriority(priority: Priority): void {
    this.expectOpen("setPriority");
    expectOneOf(Priority, priority, "setPriority", "a priority");
    this.settings.priority = priority;
  }

  /**
   * Sets the maximum duration of `finish` in nanoseconds; 0n: no limit, the default. Only for one explicit device: BAD_DATA
   * otherwise. `finish` can then reject with MISSED_DEADLINE_TRANSIENT or MISSED_DEADLINE_PERSISTENT.
   */
  setTimeout(nanoseconds: bigint): void {
    this.expectOpen("setTimeout");
    this.expectOneExplicitDevice("setTimeout");
    this.settings.timeout = timeoutOf(nanoseconds, "setTimeout");
  }

  /**
   * Keeps prepared models in files of a directory, and loads them from there the next time. `token`: 32 bytes that identify
   * the model within the application; the devices and settings that the result depends on are added to it. The directory must
   * exist. If it or a file cannot be used, nothing is kept, and `finish` does not fail.
   */
  setCaching(directory: string, token: Uint8Array): void {
    const what = "setCaching";
    this.expectOpen(what);
    this.settings.caching = takeCaching(directory, token, what);
  }

  /**
   * Divides the model among the devices and prepares the parts. Rejects with BAD_DATA if no device supports an operation
   * (the message names it and the reasons), with DEAD_OBJECT if a device is gone.
   */
  async finish(): Promise<void> {
    this.expectOpen("finish");
    this.#state = "finishing";
    this.log.VLOG("COMPILATION", () => `compile ${modelSummary(this.hal)} for ${namesOf(this.devices)}`);
    let prepared: Divided;
    try {
      prepared = await inSection(this.trace, "LR", "PC", "Compilation.finish", () =>
        prepareCompilation(this.hal, this.devices, this.#options, this.settings),
      );
    } catch (error) {
      if (!isClosed(this.#state)) this.#state = "failed";
      throw error;
    }
    await rehearse((model, devices) => new Compilation(model, devices));
    if (isClosed(this.#state)) {
      prepared.preparedModel.close();
      throw new NeuralNetworksError(ResultCode.BAD_STATE, "finish: the compilation was closed meanwhile");
    }
    this.#lent = new LentModel(prepared, this.#options.onStep !== undefined, this.trace);
    this.#state = "finished";
    this.#cancelFinalizer = whenCollected(this, prepared.preparedModel, close);
  }

  /** Which device runs which operations, and why. Throws BAD_STATE before `finish`. */
  get plan(): Plan {
    return this.#expectFinished("plan").divided.plan;
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
    return this.#expectFinished("an execution").lend();
  }

  giveBack(): void {
    this.#lent?.giveBack();
  }

  /** For this package: the current target of executions. Throws BAD_STATE before `finish`. */
  get executable(): ExecutionTarget {
    return this.#expectFinished("an execution").target;
  }

  /** For this package: whether the compilation is for an explicit list of devices, so that no execution falls back. */
  get isExplicit(): boolean {
    return this.#options.cpu === undefined;
  }

  /** For this package: the devices that run parts of the model. */
  get usedDevices(): readonly GuardedDevice[] {
    const names = new Set(this.deviceNames);
    return this.devices.filter(({ name }) => names.has(name));
  }

  /** For this package: see `Divided.rolesOf`. */
  get rolesOf(): Divided["rolesOf"] {
    return this.#expectFinished("a memory").divided.rolesOf;
  }

  /** For this package: facts of an operand type of the model; undefined if it is unknown. */
  factsOf(type: number): OperandFacts | undefined {
    return this.#source.factsOf(type);
  }

  /** For this package: throws BAD_DATA unless the compilation is for one explicit device, as Android requires for some calls. */
  expectOneExplicitDevice(what: string): void {
    const isOne = this.isExplicit && this.devices.length === 1;
    expect(isOne, ResultCode.BAD_DATA, () => describeDevices(what, this.devices.length, this.isExplicit));
  }

  /** Frees the prepared models once running executions have ended. */
  close(): void {
    this.#cancelFinalizer();
    this.#state = "closed";
    this.#lent?.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** For this package: throws BAD_STATE unless settings can change. */
  expectOpen(what: string): void {
    expect(this.#state === "open", ResultCode.BAD_STATE, () => `${what}: the compilation is ${this.#state}`);
  }

  #expectFinished(what: string): LentModel {
    const lent = this.#lent;
    const isFinished = lent !== undefined && this.#state === "finished";
    expect(isFinished, ResultCode.BAD_STATE, () => `${what}: the compilation is ${this.#state}`);
    return lent;
  }
}

function namesOf(devices: readonly GuardedDevice[]): string {
  return devices.map(({ name }) => name).join(", ");
}

function describeDevices(what: string, count: number, isExplicit: boolean): string {
  const fallback = isExplicit ? "" : " with fallback";
  return `${what}: this needs a compilation for one explicit device; there are ${count}${fallback}`;
}

/** Checks the arguments of a compilation. */
function takeDevices(model: Model | FinishedModel, devices: readonly Device[], options: CompilationOptions) {
  const what = "Compilation";
  expectKind(model, "Model", what, "model");
  const given = divisionGiven(devices, options, what, divideOptions);
  const { now = steadyClock, log = model.log, trace = model.trace, ...others } = given.options;
  // Throws if the model is not finished.
  void model.hal;
  return { devices: given.devices, options: { ...others, log, trace, now, cpu: given.cpu } };
}

function expectOneOf(values: Readonly<Record<string, number>>, value: number, what: string, expected: string): void {
  expectRight(Object.values(values).includes(value), what, expected, value);
}

/** It may have been closed while something else was waited for. */
function isClosed(state: CompilationState): boolean {
  return state === "closed";
}
