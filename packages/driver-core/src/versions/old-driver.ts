/**
 * Drivers of any version, called in canonical terms, and those of HAL 1.0 – 1.3. The differences between versions are handled here;
 * callers handle missing features of a version.
 */
import {
  type AllocateResult,
  type BufferDesc,
  type BufferRole,
  BYTE_SIZE_OF_CACHE_TOKEN,
  type CompilationCache,
  DEVICE_TYPE_UNKNOWN,
  type Device,
  ErrorStatus,
  ExecutionPreference,
  type HalVersion,
  type Model,
  type Outcome,
  type PrepareOptions,
  Priority,
  type V1_0,
  type V1_1,
  type V1_2,
  type V1_3,
} from "@nnhal/types";
import { makeTimePoint } from "@nnhal/utils";
import type { LogSink } from "../guard/wait.ts";
import type { AnyCapabilities } from "./convert/any.ts";
import { convertToV1_0 } from "./convert/v1-0.ts";
import { convertToV1_1 } from "./convert/v1-1.ts";
import { convertToV1_2 } from "./convert/v1-2.ts";

/** An IDevice of any version. */
export type AnyIDevice = V1_0.IDevice | V1_1.IDevice | V1_2.IDevice | V1_3.IDevice;

/**
 * See the file's head. Models fit the version. Methods throw if the driver's do. `Own`: the driver's prepared models, such as
 * `V1_0.IPreparedModel`.
 */
export interface OldDriver<Own extends object = object> {
  readonly version: HalVersion;
  getCapabilities(): Outcome & { readonly capabilities: AnyCapabilities };
  getSupportedOperations(model: Model): ReturnType<V1_3.IDevice["getSupportedOperations_1_3"]>;
  prepareModel(model: Model, options: PrepareOptions, notify: NotifyPrepared<Own>): Outcome;
  /** Since HAL 1.2. */
  prepareModelFromCache?(
    cache: CompilationCache,
    options: Pick<PrepareOptions, "deadline">,
    notify: NotifyPrepared<Own>,
  ): Outcome;
  /** Since HAL 1.3. */
  allocate?(
    desc: BufferDesc,
    preparedModels: readonly (Own | null)[],
    inputRoles: readonly BufferRole[],
    outputRoles: readonly BufferRole[],
  ): Promise<AllocateResult>;
  readonly facts: DriverFacts;
  /** The method that every prepared model of the driver has. */
  readonly executeMethod: string;
}

/** Gets the outcome of a preparation. */
export type NotifyPrepared<Own extends object> = (status: ErrorStatus, own: Own | null) => void;

/** The facts of a driver since HAL 1.2, and the assumed ones of an older driver. */
export type DriverFacts = Pick<
  Device,
  "getType" | "getVersionString" | "getSupportedExtensions" | "getNumberOfCacheFilesNeeded" | "getStatus"
>;

/** A driver of HAL 1.0 – 1.3. */
type HidlDriver = OldDriver<V1_0.IPreparedModel>;

const { FAST_SINGLE_ANSWER } = ExecutionPreference;
/** No cache: drivers take a token even where they must not read it. */
export const noCache: CompilationCache = {
  modelCache: [],
  dataCache: [],
  token: new Uint8Array(BYTE_SIZE_OF_CACHE_TOKEN),
};

/** The driver behind an IDevice; the newest version whose methods it has is its version. */
export function oldDriverOf(device: AnyIDevice, log: LogSink): HidlDriver {
  if ("prepareModel_1_3" in device) return driverV1_3(device);
  if ("prepareModel_1_2" in device) return driverV1_2(device, log);
  if ("prepareModel_1_1" in device) return driverV1_1(device, log);
  return driverV1_0(device, log);
}

function driverV1_0(device: V1_0.IDevice, log: LogSink): HidlDriver {
  return {
    ...common,
    version: "1.0",
    getCapabilities: () => device.getCapabilities(),
    getSupportedOperations: (model) => device.getSupportedOperations(convertToV1_0.model(model, log).value),
    prepareModel: (model, _options, notify) =>
      device.prepareModel(convertToV1_0.model(model, log).value, callbackOf(notify)),
    facts: { ...unknownFacts, getStatus: () => device.getStatus() },
  };
}

function driverV1_1(device: V1_1.IDevice, log: LogSink): HidlDriver {
  return {
    ...common,
    version: "1.1",
    getCapabilities: () => device.getCapabilities_1_1(),
    getSupportedOperations: (model) => device.getSupportedOperations_1_1(convertToV1_1.model(model, log).value),
    prepareModel: (model, { preference = FAST_SINGLE_ANSWER }, notify) =>
      device.prepareModel_1_1(convertToV1_1.model(model, log).value, preference, callbackOf(notify)),
    facts: { ...unknownFacts, getStatus: () => device.getStatus() },
  };
}

function driverV1_2(device: V1_2.IDevice, log: LogSink): HidlDriver {
  return {
    ...common,
    version: "1.2",
    getCapabilities: () => device.getCapabilities_1_2(),
    getSupportedOperations: (model) => device.getSupportedOperations_1_2(convertToV1_2.model(model, log).value),
    prepareModel(model, { preference = FAST_SINGLE_ANSWER, cache = noCache }, notify) {
      const callback = callbackOf(notify);
      const { value } = convertToV1_2.model(model, log);
      return device.prepareModel_1_2(value, preference, cache.modelCache, cache.dataCache, cache.token, callback);
    },
    prepareModelFromCache: ({ modelCache, dataCache, token }, _options, notify) =>
      device.prepareModelFromCache(modelCache, dataCache, token, callbackOf(notify)),
    facts: device,
  };
}

function driverV1_3(device: V1_3.IDevice): HidlDriver {
  return {
    ...common,
    version: "1.3",
    getCapabilities: () => device.getCapabilities_1_3(),
    getSupportedOperations: (model) => device.getSupportedOperations_1_3(model),
    prepareModel(model, options, notify) {
      const { preference = FAST_SINGLE_ANSWER, priority = Priority.MEDIUM, deadline, cache = noCache } = options;
      const { modelCache, dataCache } = cache;
      const time = makeTimePoint(deadline);
      return device.prepareModel_1_3(
        model,
        preference,
        priority,
        time,
        modelCache,
        dataCache,
        cache.token,
        callbackOf(notify),
      );
    },
    prepareModelFromCache: ({ modelCache, dataCache, token }, { deadline }, notify) =>
      device.prepareModelFromCache_1_3(makeTimePoint(deadline), modelCache, dataCache, token, callbackOf(notify)),
    allocate: (desc, preparedModels, ...roles) =>
      device.allocate(
        desc,
        preparedModels.map((own) => (own !== null && isV1_3Model(own) ? own : null)),
        ...roles,
      ),
    facts: device,
  };
}

const common = { executeMethod: "execute" } as const;

/** The callback of a preparation, by whichever version's method it is called. */
function callbackOf(notify: NotifyPrepared<V1_0.IPreparedModel>): V1_3.IPreparedModelCallback {
  return { notify, notify_1_2: notify, notify_1_3: notify };
}

/** Returns true if a prepared model has the methods of HAL 1.3. */
export function isV1_3Model(model: V1_0.IPreparedModel): model is V1_3.IPreparedModel {
  return "executeSynchronously_1_3" in model;
}

const ok = { status: ErrorStatus.NONE } as const;

/** The assumed facts of a driver older than HAL 1.2. */
const unknownFacts: Omit<DriverFacts, "getStatus"> = {
  getType: () => ({ ...ok, type: DEVICE_TYPE_UNKNOWN }),
  getVersionString: () => ({ ...ok, version: "UNKNOWN" }),
  getSupportedExtensions: () => ({ ...ok, extensions: [] }),
  getNumberOfCacheFilesNeeded: () => ({ ...ok, numModelCache: 0, numDataCache: 0 }),
};
