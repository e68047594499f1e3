/** Drivers of each HAL version whose answers a test chooses, and that record their calls. */
import {
  type Device,
  DeviceStatus,
  DeviceType,
  ErrorStatus,
  type ExecutionResult,
  MeasureTiming,
  type V1_0,
  type V1_1,
  type V1_2,
  type V1_3,
} from "@nnhal/types";
import { type LiftOptions, liftDevice } from "./index.ts";
import { measured } from "./versions.test-helper.ts";

const { NONE } = ErrorStatus;

/** A call of a driver's method: its name and arguments. */
export type DriverCall = readonly [method: string, ...args: unknown[]];

/** Behaviour of a driver; every method has a default that succeeds. */
export interface OldBehaviour {
  readonly supportedOperations?: (operations: number) => Partial<ReturnType<V1_0.IDevice["getSupportedOperations"]>>;
  /** Launches a preparation; `succeed` tells the callback. */
  readonly prepare?: (callback: V1_3.IPreparedModelCallback, succeed: () => void) => V1_0.Outcome;
  readonly result?: Partial<ExecutionResult>;
}

export interface FakeDriver<Of> {
  readonly device: Of;
  readonly calls: DriverCall[];
}

/** Statuses that HAL 1.0 knows. */
const ok = { status: NONE } as const;

const one = { execTime: 1, powerUsage: 1 };
const two = { execTime: 2, powerUsage: 2 };

export function driverV1_0(behaviour: OldBehaviour = {}): FakeDriver<V1_0.IDevice> {
  const calls: DriverCall[] = [];
  return { device: methodsV1_0(behaviour, calls), calls };
}

export function driverV1_1(behaviour: OldBehaviour = {}): FakeDriver<V1_1.IDevice> {
  const calls: DriverCall[] = [];
  return { device: methodsV1_1(behaviour, calls), calls };
}

export function driverV1_2(behaviour: OldBehaviour = {}): FakeDriver<V1_2.IDevice> {
  const calls: DriverCall[] = [];
  return { device: methodsV1_2(behaviour, calls), calls };
}

function support({ supportedOperations }: OldBehaviour, { operations }: V1_0.Model) {
  return {
    ...ok,
    supportedOperations: operations.map(() => true),
    ...supportedOperations?.(operations.length),
  };
}

function methodsV1_0(behaviour: OldBehaviour, calls: DriverCall[]): V1_0.IDevice {
  return {
    getCapabilities: () => ({ ...ok, capabilities: { float32Performance: one, quantized8Performance: two } }),
    getSupportedOperations(model) {
      calls.push(["getSupportedOperations", model]);
      return support(behaviour, model);
    },
    prepareModel(model, callback) {
      calls.push(["prepareModel", model]);
      return prepare(behaviour, callback, () => callback?.notify(NONE, preparedV1_0(behaviour, calls)));
    },
    getStatus: () => DeviceStatus.AVAILABLE,
  };
}

function methodsV1_1(behaviour: OldBehaviour, calls: DriverCall[]): V1_1.IDevice {
  return {
    ...methodsV1_0(behaviour, calls),
    getCapabilities_1_1: () => ({
      ...ok,
      capabilities: { float32Performance: one, quantized8Performance: one, relaxedFloat32toFloat16Performance: two },
    }),
    getSupportedOperations_1_1(model) {
      calls.push(["getSupportedOperations_1_1", model]);
      return support(behaviour, model);
    },
    prepareModel_1_1(model, preference, callback) {
      calls.push(["prepareModel_1_1", model, preference]);
      return prepare(behaviour, callback, () => callback?.notify(NONE, preparedV1_0(behaviour, calls)));
    },
  };
}

function methodsV1_2(behaviour: OldBehaviour, calls: DriverCall[]): V1_2.IDevice {
  return {
    ...methodsV1_1(behaviour, calls),
    getVersionString: () => ({ ...ok, version: "12" }),
    getType: () => ({ ...ok, type: DeviceType.ACCELERATOR }),
    getCapabilities_1_2: () => ({
      ...ok,
      capabilities: {
        relaxedFloat32toFloat16PerformanceScalar: one,
        relaxedFloat32toFloat16PerformanceTensor: two,
        operandPerformance: [],
      },
    }),
    getSupportedExtensions: () => ({ ...ok, extensions: [{ name: "com.example", operandTypes: [] }] }),
    getSupportedOperations_1_2(model) {
      calls.push(["getSupportedOperations_1_2", model]);
      return support(behaviour, model);
    },
    getNumberOfCacheFilesNeeded: () => ({ ...ok, numModelCache: 1, numDataCache: 1 }),
    prepareModel_1_2(model, preference, modelCache, dataCache, token, callback) {
      calls.push(["prepareModel_1_2", model, preference, modelCache, dataCache, token]);
      return prepare(behaviour, callback, () => callback?.notify_1_2(NONE, preparedV1_2(behaviour, calls)));
    },
    prepareModelFromCache(modelCache, dataCache, token, callback) {
      calls.push(["prepareModelFromCache", modelCache, dataCache, token]);
      return prepare(behaviour, callback, () => callback?.notify_1_2(NONE, preparedV1_2(behaviour, calls)));
    },
  };
}

function prepare(
  behaviour: OldBehaviour,
  callback: V1_0.IPreparedModelCallback | null,
  succeed: () => void,
): V1_0.Outcome {
  if (behaviour.prepare !== undefined) return behaviour.prepare(allVersions(callback), succeed);
  setImmediate(succeed);
  return ok;
}

/** The callback by any of its methods: lifts pass objects that have them all. */
function allVersions(callback: V1_0.IPreparedModelCallback | null): V1_3.IPreparedModelCallback {
  if (callback === null || !("notify_1_3" in callback)) throw new TypeError("expected a callback of all versions");
  return callback as V1_3.IPreparedModelCallback;
}

function resultOf({ result }: OldBehaviour) {
  const outputShapes = [{ dimensions: [2], isSufficient: true }];
  return { status: NONE, outputShapes, timing: measured, ...result } as {
    readonly status: V1_0.ErrorStatus;
    readonly outputShapes: typeof outputShapes;
    readonly timing: typeof measured;
  };
}

function preparedV1_0(behaviour: OldBehaviour, calls: DriverCall[]): V1_0.IPreparedModel {
  return {
    execute(request, callback) {
      calls.push(["execute", request]);
      setImmediate(() => callback?.notify(resultOf(behaviour).status));
      return ok;
    },
    close() {
      calls.push(["close"]);
    },
  };
}

function preparedV1_2(behaviour: OldBehaviour, calls: DriverCall[]): V1_2.IPreparedModel {
  return {
    ...preparedV1_0(behaviour, calls),
    execute_1_2(request, measure, callback) {
      calls.push(["execute_1_2", request, measure]);
      const { status, outputShapes, timing } = resultOf(behaviour);
      setImmediate(() => callback?.notify_1_2(status, outputShapes, timing));
      return ok;
    },
    async executeSynchronously(request, measure = MeasureTiming.NO) {
      calls.push(["executeSynchronously", request, measure]);
      return resultOf(behaviour);
    },
    async configureExecutionBurst(...args) {
      calls.push(["configureExecutionBurst", ...args]);
      return { ...ok, context: { freeMemory: () => {} } };
    },
  };
}

export const drivers = { "1.0": driverV1_0, "1.1": driverV1_1, "1.2": driverV1_2 } as const;
export const oldVersions = ["1.0", "1.1", "1.2"] as const;
export type OldVersion = (typeof oldVersions)[number];

/** A lifted driver of a version, and the calls that it receives. */
export function makeLifted(
  version: OldVersion,
  behaviour: OldBehaviour = {},
  options: LiftOptions = {},
): { readonly device: Device; readonly calls: DriverCall[] } {
  const { device, calls } = drivers[version](behaviour);
  return { device: liftDevice(`old-${version}`, device, options), calls };
}
