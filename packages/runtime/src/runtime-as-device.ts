/**
 * Several devices as one: what talks to a single device, such as a conformance suite or a service, can use the runtime
 * through it.
 */
import { whyUnsupported } from "@nnhal/driver-core/partition";
import {
  type Capabilities,
  type Device,
  DeviceStatus,
  DeviceType,
  ErrorStatus,
  type ExecutionPreference,
  type Model,
  type PerformanceInfo,
  type PrepareResult,
} from "@nnhal/types";
import { modelIssues } from "@nnhal/validation";
import { type DivideOptions, divideAndPrepare, planningOrder } from "./plan/divide.ts";
import { shareTokens } from "./plan/shared-tokens.ts";

/** How to present devices as one. */
export interface RuntimeDeviceOptions extends DivideOptions {
  /** The name it has. Default: `runtime-`, then the names of the devices without their vendors, such as `runtime-tfjs+reference`. */
  readonly name?: string;
}

/**
 * A device that divides models among others. It takes an operation if one of them does, or if it is control flow that the
 * runtime can interpret; of their figures it shows the best. It keeps no caches. A buffer lies on the one device that uses
 * what is in it; where that are several, there is none. Throws a TypeError without devices.
 */
export function runtimeAsDevice(devices: readonly Device[], options: RuntimeDeviceOptions = {}): Device {
  const { cpu, policy } = options;
  const all = planningOrder(devices, cpu);
  if (all.length === 0) throw new TypeError("runtimeAsDevice needs at least one device");
  const ok = { status: ErrorStatus.NONE } as const;
  const planning = (preference?: ExecutionPreference) => ({
    ...(policy && { policy }),
    ...(cpu && { cpu: cpu.name }),
    ...(preference !== undefined && { preference }),
  });
  const { allocate, present } = shareTokens(all);
  const types = new Set(all.map((device) => device.getType().type));
  const [onlyType = DeviceType.OTHER] = types;
  return {
    name: options.name ?? nameOf(all),
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
      const extensions = new Map(
        all.flatMap((device) => device.getSupportedExtensions().extensions.map((one) => [one.name, one] as const)),
      );
      return { ...ok, extensions: [...extensions.values()] };
    },
    getNumberOfCacheFilesNeeded: () => ({ ...ok, numModelCache: 0, numDataCache: 0 }),
    getStatus: () => worstOf(all.map((device) => device.getStatus())),
    getSupportedOperations(model) {
      const invalid = problemOf(model, all);
      if (invalid !== undefined) {
        return { status: ErrorStatus.INVALID_ARGUMENT, message: invalid, supported: [], reasons: [] };
      }
      const reasons = whyUnsupported(model, all, planning());
      return { ...ok, supported: reasons.map((reason) => reason === undefined), reasons };
    },
    async prepareModel(model, { cache: _, ...prepareOptions } = {}): Promise<PrepareResult> {
      const refuse = (status: ErrorStatus, message: string) => ({ status, message, preparedModel: null });
      const invalid = problemOf(model, all);
      if (invalid !== undefined) return refuse(ErrorStatus.INVALID_ARGUMENT, invalid);
      const divided = await divideAndPrepare(model, all, options, prepareOptions);
      if ("plan" in divided) return { ...ok, preparedModel: present(divided, model) };
      if ("status" in divided) return refuse(divided.status, divided.message ?? `status ${divided.status}`);
      const { unplannable, message } = divided;
      const isTheModels = unplannable === "BAD_DATA";
      return refuse(isTheModels ? ErrorStatus.INVALID_ARGUMENT : ErrorStatus.GENERAL_FAILURE, message);
    },
    allocate,
  };
}

/**
 * What is wrong with a model. Models with extensions are left to the devices: what is right in them only those know.
 */
function problemOf(model: Model, devices: readonly Device[]): string | undefined {
  if (model.extensionNameToPrefix.length > 0) {
    const answers = devices.map((device) => device.getSupportedOperations(model));
    return answers.every(({ status }) => status !== ErrorStatus.NONE) ? answers[0].message : undefined;
  }
  const [first] = modelIssues(model, { mode: "runtime" });
  return first && `the model is not valid: ${first.path}: ${first.message}`;
}

/** A device's name has one hyphen: the vendor is before it. */
function nameOf(devices: readonly Device[]): string {
  return `runtime-${devices.map(({ name }) => name.slice(name.indexOf("-") + 1)).join("+")}`;
}

function worstOf(statuses: readonly DeviceStatus[]): DeviceStatus {
  return statuses.every((status) => status === statuses[0]) ? statuses[0] : DeviceStatus.UNKNOWN;
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
