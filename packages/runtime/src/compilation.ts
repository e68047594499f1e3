/**
 * Compilation: a model prepared for devices (NNAPI: ANeuralNetworksCompilation).
 */
import {
  type Device,
  ErrorStatus,
  ExecutionPreference,
  type Model as HalModel,
  operationTypeNames,
  type PreparedModel,
  Priority,
} from "@nnhal/types";
import type { Model } from "./model.ts";
import { convertErrorStatusToResultCode, expect, NeuralNetworksError, ResultCode } from "./result-code.ts";

/**
 * A compilation of a finished model. Settings first, then `finish`, then executions.
 *
 * The first device of the list that supports every operation gets the whole model. Throws a NeuralNetworksError:
 * BAD_STATE for a model that is not finished and for a call out of turn, BAD_DATA for an argument that breaks a rule.
 */
export class Compilation {
  readonly #model: HalModel;
  readonly #devices: readonly Device[];
  #preference: ExecutionPreference = ExecutionPreference.FAST_SINGLE_ANSWER;
  #priority: Priority = Priority.MEDIUM;
  #state: "open" | "finishing" | "finished" | "failed" | "closed" = "open";
  #prepared: { readonly device: Device; readonly preparedModel: PreparedModel } | undefined;

  constructor(model: Model, devices: readonly Device[]) {
    this.#model = model.hal;
    expect(devices.length > 0, ResultCode.BAD_DATA, () => "a compilation needs at least one device");
    expect(new Set(devices).size === devices.length, ResultCode.BAD_DATA, () => "a device is listed twice");
    this.#devices = [...devices];
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

  /** Prepares the model. Rejects with BAD_DATA where no device supports it, naming the operations and reasons. */
  async finish(): Promise<void> {
    this.#expectOpen("finish");
    this.#state = "finishing";
    try {
      const device = this.#choose();
      const { status, message, preparedModel } = await device.prepareModel(this.#model, {
        preference: this.#preference,
        priority: this.#priority,
      });
      if (status !== ErrorStatus.NONE || preparedModel === null) {
        const code = status === ErrorStatus.NONE ? ResultCode.OP_FAILED : convertErrorStatusToResultCode(status);
        throw new NeuralNetworksError(code, `${device.name}: ${message ?? "no prepared model"}`);
      }
      this.#prepared = { device, preparedModel };
      this.#state = "finished";
    } catch (error) {
      this.#state = "failed";
      throw error;
    }
  }

  /** The device that runs the model. Throws BAD_STATE before `finish`. */
  get device(): Device {
    return this.#expectFinished("device").device;
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

  #choose(): Device {
    const refusals: string[] = [];
    for (const device of this.#devices) {
      const { status, message, supported, reasons } = device.getSupportedOperations(this.#model);
      if (status !== ErrorStatus.NONE) refusals.push(`${device.name}: ${message ?? `status ${status}`}`);
      else if (supported.every((yes) => yes)) return device;
      else refusals.push(`${device.name}: ${describeUnsupported(this.#model, supported, reasons)}`);
    }
    throw new NeuralNetworksError(ResultCode.BAD_DATA, `no device supports the whole model. ${refusals.join(". ")}`);
  }

  #expectOpen(what: string): void {
    expect(this.#state === "open", ResultCode.BAD_STATE, () => `${what}: the compilation is ${this.#state}`);
  }

  #expectFinished(what: string) {
    expect(this.#prepared !== undefined, ResultCode.BAD_STATE, () => `${what}: the compilation is ${this.#state}`);
    return this.#prepared;
  }
}

/** The first few operations that a device does not take, with the reasons. */
function describeUnsupported(
  model: HalModel,
  supported: readonly boolean[],
  reasons: readonly (string | undefined)[],
): string {
  const indexes = supported.flatMap((yes, index) => (yes ? [] : [index]));
  const shown = indexes.slice(0, 3).map((index) => {
    const { type } = model.main.operations[index];
    return `operation ${index} (${reasons[index] ?? operationTypeNames.get(type) ?? type})`;
  });
  if (indexes.length > shown.length) shown.push(`and ${indexes.length - shown.length} more`);
  return shown.join(", ");
}
