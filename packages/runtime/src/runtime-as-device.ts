/**
 * Several devices as one: a client of a single device, such as a conformance suite or a service, can use the runtime through
 * it.
 */
import { whyUnsupported } from "@nnhal/driver-core/partition";
import {
  type Capabilities,
  type Device,
  DeviceStatus,
  DeviceType,
  ErrorStatus,
  type HalVersion,
  type Model,
  newestHalVersion,
  type PerformanceInfo,
  type PrepareResult,
} from "@nnhal/types";
import { defaultLogger, mergeExtensions } from "@nnhal/utils";
import { sealModel } from "@nnhal/validation";
import { divideOptions, divisionGiven } from "./divide-options.ts";
import { describe } from "./given.ts";
import { type GuardedDevice, guardDevice } from "./guard/device.ts";
import { deviceForm } from "./plan/device-form.ts";
import { type DivideOptions, divideAndPrepare } from "./plan/divide.ts";
import { shareTokens } from "./plan/shared-tokens.ts";
import { expect, ResultCode } from "./result-code.ts";

/** Options of presenting devices as one. */
export interface RuntimeDeviceOptions extends DivideOptions {
  /** The name of the device. Default: `runtime-`, then the names of the devices without their vendors, such as `runtime-tfjs+reference`. */
  readonly name?: string | undefined;
}

/**
 * A device that divides models among others. It takes an operation if one of them does, or if it is control flow that the
 * runtime can interpret; its capabilities are the best of theirs. It keeps no caches. A buffer is allocated on the device that
 * uses the value; if several devices use it, no buffer is allocated. It reports the
 * extensions of all, except those that two devices describe differently. Throws a NeuralNetworksError: UNEXPECTED_NULL or BAD_DATA
 * for a value that is not a device, an empty list, a device that is listed twice, two with the same name, and options that break a rule.
 */
export function runtimeAsDevice(devices: readonly Device[], options: RuntimeDeviceOptions = {}): Device {
  const what = "runtimeAsDevice";
  const {
    devices: all,
    cpu,
    options: checked,
  } = divisionGiven(devices, options, what, { ...divideOptions, name: true });
  const { cpu: _, name = nameOf(all), ...others } = checked;
  const isName = typeof name === "string" && name !== "";
  expect(isName, ResultCode.BAD_DATA, () => `${what}: name is ${describe(name)}, not a text`);
  const division = { ...others, ...(cpu && { cpu }) };
  const ok = { status: ErrorStatus.NONE } as const;
  const planning = cpu === undefined ? {} : { cpu: cpu.name };
  const { allocate, present } = shareTokens(all, checked.log ?? defaultLogger);
  const types = new Set(all.map((device) => device.getType().type));
  const [onlyType = DeviceType.OTHER] = types;
  // As any device, it neither throws nor rejects for any arguments.
  return guardDevice({
    name,
    halVersion: oldestOf(all),
    getCapabilities: () => ({
      ...ok,
      capabilities: bestOf(all.map((device) => device.getCapabilities().capabilities)),
    }),
    getType: () => ({ ...ok, type: types.size === 1 ? onlyType : DeviceType.OTHER }),
    getVersionString: () => ({
      ...ok,
      version: all.map((device) => `${device.name} ${device.getVersionString().version}`).join(", "),
    }),
    getSupportedExtensions() {
      const described = all.map((device) => ({ name: device.name, ...device.getSupportedExtensions() }));
      return { ...ok, extensions: mergeExtensions(described).extensions };
    },
    getNumberOfCacheFilesNeeded: () => ({ ...ok, numModelCache: 0, numDataCache: 0 }),
    getStatus: () => worstOf(all.map((device) => device.getStatus())),
    async getSupportedOperations(model) {
      const checked = await checkedModel(model, all);
      if (typeof checked === "string") {
        return { status: ErrorStatus.INVALID_ARGUMENT, message: checked, supported: [], reasons: [] };
      }
      const reasons = await whyUnsupported(deviceForm(checked), all, planning);
      return { ...ok, supported: reasons.map((reason) => reason === undefined), reasons };
    },
    async prepareModel(givenModel, given): Promise<PrepareResult> {
      const { cache: _, ...prepareOptions } = given ?? {};
      const refuse = (status: ErrorStatus, message: string) => ({ status, message, preparedModel: null });
      const model = await checkedModel(givenModel, all);
      if (typeof model === "string") return refuse(ErrorStatus.INVALID_ARGUMENT, model);
      const divided = await divideAndPrepare(model, all, division, prepareOptions);
      if ("plan" in divided) return { ...ok, preparedModel: present(divided, model) };
      if ("status" in divided) return refuse(divided.status, divided.message ?? `status ${divided.status}`);
      const { unplannable, message } = divided;
      const isTheModels = unplannable === "BAD_DATA";
      return refuse(isTheModels ? ErrorStatus.INVALID_ARGUMENT : ErrorStatus.GENERAL_FAILURE, message);
    },
    allocate,
  });
}

/** The sealed copy of a caller's model, or why it is not valid. Only devices know the rules of extensions, so they are asked too. */
async function checkedModel(given: Model, devices: readonly GuardedDevice[]): Promise<Model | string> {
  const sealed = sealModel(given);
  if ("issues" in sealed) {
    const [first] = sealed.issues;
    return `the model is not valid: ${first?.path}: ${first?.message}`;
  }
  const { model } = sealed;
  if (model.extensionNameToPrefix.length === 0) return model;
  const answers = await Promise.all(devices.map((device) => device.getSupportedOperations(model)));
  const isRefused = answers.every(({ status }) => status !== ErrorStatus.NONE);
  return isRefused ? (answers[0]?.message ?? "no device accepts the model") : model;
}

/** A device's name has one hyphen: the vendor is before it. */
function nameOf(devices: readonly GuardedDevice[]): string {
  return `runtime-${devices.map(({ name }) => name.slice(name.indexOf("-") + 1)).join("+")}`;
}

/** The version that all devices have. */
function oldestOf(devices: readonly GuardedDevice[]): HalVersion {
  return devices.reduce<HalVersion>(
    (oldest, { halVersion }) => (halVersion < oldest ? halVersion : oldest),
    newestHalVersion,
  );
}

function worstOf(statuses: readonly DeviceStatus[]): DeviceStatus {
  const [first = DeviceStatus.UNKNOWN] = statuses;
  return statuses.every((status) => status === first) ? first : DeviceStatus.UNKNOWN;
}

/** The best figure of any device, for every type that one names. */
function bestOf(all: readonly Capabilities[]): Capabilities {
  const least = (infos: readonly PerformanceInfo[]): PerformanceInfo => ({
    execTime: Math.min(...infos.map(({ execTime }) => execTime)),
    powerUsage: Math.min(...infos.map(({ powerUsage }) => powerUsage)),
  });
  const byType = new Map<number, PerformanceInfo[]>();
  for (const { operandPerformance } of all) {
    for (const { type, info } of operandPerformance) {
      const known = byType.get(type);
      if (known === undefined) byType.set(type, [info]);
      else known.push(info);
    }
  }
  return {
    relaxedFloat32toFloat16PerformanceScalar: least(all.map((one) => one.relaxedFloat32toFloat16PerformanceScalar)),
    relaxedFloat32toFloat16PerformanceTensor: least(all.map((one) => one.relaxedFloat32toFloat16PerformanceTensor)),
    operandPerformance: [...byType].sort(([a], [b]) => a - b).map(([type, infos]) => ({ type, info: least(infos) })),
    ifPerformance: least(all.map(({ ifPerformance }) => ifPerformance)),
    whilePerformance: least(all.map(({ whilePerformance }) => whilePerformance)),
  };
}
