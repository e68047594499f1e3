/**
 * The guard between the runtime and devices, which are foreign code: the only place where the runtime calls a device. No
 * method of a guarded device throws, no promise of one rejects, and every answer keeps the rules of the HAL. If a device breaks
 * one, the answer is GENERAL_FAILURE, and the message names the device, the method and the rule. Calls that never end are bounded
 * in watch.ts.
 */
import {
  type AllocateResult,
  type Capabilities,
  type CompilationCache,
  DEVICE_TYPE_UNKNOWN,
  type Device,
  DeviceStatus,
  ErrorStatus,
  type HalVersion,
  halVersions,
  type IBuffer,
  type Model,
  type Outcome,
  type PerformanceInfo,
  type PreparedModel,
  type PrepareOptions,
  type PrepareResult,
  type SupportedOperations,
} from "@nnhal/types";
import {
  broken,
  hasFields,
  readCacheFileCounts,
  readCapabilities,
  readDeviceStatus,
  readDeviceType,
  readExtensions,
  readOutcome,
  readSupport,
  readVersionString,
  show,
} from "@nnhal/validation";
import { attempt, attemptAsync, type Refusal, textOf } from "./attempt.ts";
import { closeSafely, type GuardedModel, guardModel, ownModel } from "./prepared-model.ts";

/** A device behind the guard. */
export interface GuardedDevice
  extends Omit<Device, "getSupportedOperations" | "prepareModel" | "prepareModelFromCache"> {
  /** The caller's device. */
  readonly own: Device;
  readonly halVersion: HalVersion;
  /** Why the device cannot be used: it has no name, or its version is unknown. */
  readonly flaw?: string;
  getSupportedOperations(model: Model): Promise<SupportedOperations>;
  prepareModel(model: Model, options?: PrepareOptions): Promise<GuardedPrepareResult>;
  /** `model`: the model that the cache should hold, to check answers against. */
  prepareModelFromCache?(
    cache: CompilationCache,
    options?: Pick<PrepareOptions, "deadline">,
    model?: Model,
  ): Promise<GuardedPrepareResult>;
}

/** The answer to a preparation. */
export interface GuardedPrepareResult extends PrepareResult {
  readonly preparedModel: GuardedModel | null;
}

const guards = new WeakMap<object, GuardedDevice>();

/** The guard of a device. A device has one guard, by which it is recognised everywhere. */
export function guardDevice(device: Device): GuardedDevice {
  let guard = guards.get(device);
  if (guard === undefined) {
    guard = guarded(device);
    guards.set(device, guard);
    guards.set(guard, guard);
  }
  return guard;
}

/** The performance of a device that does not report it: the worst (Android: FLT_MAX). */
const unknownPerformance: PerformanceInfo = { execTime: 3.4028234663852886e38, powerUsage: 3.4028234663852886e38 };
const unknownCapabilities: Capabilities = {
  relaxedFloat32toFloat16PerformanceScalar: unknownPerformance,
  relaxedFloat32toFloat16PerformanceTensor: unknownPerformance,
  operandPerformance: [],
  ifPerformance: unknownPerformance,
  whilePerformance: unknownPerformance,
};

function guarded(own: Device): GuardedDevice {
  const { name, halVersion, flaw } = identityOf(own);
  const facts = { name, halVersion };
  /** Answers a query. The message of a failure names the method, then what the device reports. */
  const query = <Value extends object>(
    method: QueryName,
    read: (answer: Readonly<Record<string, unknown>>) => Value,
    nothing: Value,
  ): Outcome & Value =>
    attempt<Outcome & Value>(
      method,
      () => {
        const answer: unknown = own[method]();
        const { status, message = `status ${status}` } = readOutcome(answer);
        if (status !== ErrorStatus.NONE) return { status, message: `${method}: ${message}`, ...nothing };
        return { status, ...read(hasFields(answer) ? answer : {}) };
      },
      (refusal) => ({ ...refusal, ...nothing }),
    );
  const getSupportedExtensions = () =>
    query("getSupportedExtensions", ({ extensions }) => ({ extensions: readExtensions(extensions) }), {
      extensions: [],
    });
  const extensions = () => getSupportedExtensions().extensions;
  // They do not change; each plan asks for them.
  let capabilities: (Outcome & { readonly capabilities: Capabilities }) | undefined;
  const getCapabilities = () => {
    if (capabilities !== undefined) return capabilities;
    const answer = query("getCapabilities", ({ capabilities: own }) => ({ capabilities: readCapabilities(own) }), {
      capabilities: unknownCapabilities,
    });
    if (answer.status === ErrorStatus.NONE) capabilities = answer;
    return answer;
  };
  /** Prepares a model once more, without the files and the deadline of the first time. */
  const prepareAnew = async (
    model: Model,
    { preference, priority }: PrepareOptions,
  ): Promise<PreparedModel | undefined> => {
    const answer: unknown = await own.prepareModel(model, { preference, priority });
    const isPrepared = hasFields(answer) && answer.status === ErrorStatus.NONE;
    return isPrepared && isPreparedModel(answer.preparedModel) ? answer.preparedModel : undefined;
  };
  const prepared = (answer: unknown, model: Model | undefined, options: PrepareOptions = {}): GuardedPrepareResult => {
    const outcome = readOutcome(answer);
    const preparedModel = hasFields(answer) ? answer.preparedModel : undefined;
    if (outcome.status !== ErrorStatus.NONE) return { ...outcome, preparedModel: null };
    if (!isPreparedModel(preparedModel)) return broken("answered NONE without a prepared model");
    const again = async () => {
      try {
        return model === undefined ? undefined : await prepareAnew(model, options);
      } catch {
        // The answer that made this necessary is reported.
        return undefined;
      }
    };
    return { ...outcome, preparedModel: guardModel(preparedModel, model, { ...facts, extensions }, again) };
  };
  const unprepared = (refusal: Refusal): GuardedPrepareResult => ({ ...refusal, preparedModel: null });
  const canKeep = hasMethod(own, "prepareModelFromCache");
  const canAllocate = hasMethod(own, "allocate");
  return {
    ...facts,
    own,
    ...(flaw !== undefined && { flaw }),
    getCapabilities,
    getType: () =>
      query("getType", ({ type }) => ({ type: readDeviceType(type, halVersion < "1.2") }), {
        type: DEVICE_TYPE_UNKNOWN,
      }),
    getVersionString: () =>
      query("getVersionString", ({ version }) => ({ version: readVersionString(version) }), { version: "" }),
    getSupportedExtensions,
    getNumberOfCacheFilesNeeded: () =>
      query("getNumberOfCacheFilesNeeded", readCacheFileCounts, { numModelCache: 0, numDataCache: 0 }),
    getSupportedOperations: (model) =>
      attemptAsync(
        "getSupportedOperations",
        async () => supportedOf(await own.getSupportedOperations(model), model),
        (refusal): SupportedOperations => ({ ...refusal, supported: [], reasons: [] }),
      ),
    getStatus: () =>
      attempt(
        "getStatus",
        () => readDeviceStatus(own.getStatus()),
        () => DeviceStatus.UNKNOWN,
      ),
    prepareModel: (model, options) =>
      attemptAsync(
        "prepareModel",
        async () => prepared(await own.prepareModel(model, options), model, options),
        unprepared,
      ),
    ...(canKeep && {
      prepareModelFromCache: (cache, options, model) =>
        attemptAsync(
          "prepareModelFromCache",
          async () => prepared(await own.prepareModelFromCache?.(cache, options, model), model),
          unprepared,
        ),
    }),
    ...(canAllocate && {
      allocate: (desc, models, inputRoles, outputRoles) =>
        attemptAsync(
          `${name}: allocate`,
          async () => {
            const ownModels = models.map((model) => model && ownModel(model));
            return allocationOf(await own.allocate?.(desc, ownModels, inputRoles, outputRoles), name);
          },
          (refusal): AllocateResult => ({ ...refusal, buffer: null, token: 0 }),
        ),
    }),
  };
}

type QueryName =
  | "getCapabilities"
  | "getType"
  | "getVersionString"
  | "getSupportedExtensions"
  | "getNumberOfCacheFilesNeeded";

/** The name and the version, which are read once. */
function identityOf(own: Device): Pick<GuardedDevice, "name" | "halVersion" | "flaw"> {
  const unusable = (flaw: string) => ({ name: "a device without a name", halVersion: "1.3" as const, flaw });
  let name: unknown;
  let halVersion: unknown;
  try {
    ({ name, halVersion = "1.3" } = own);
  } catch (error) {
    return unusable(`reading its name and halVersion threw: ${textOf(error)}`);
  }
  if (typeof name !== "string" || name === "") return unusable(`its name is ${show(name)} where a text is needed`);
  const known = halVersions.find((version) => version === halVersion);
  if (known !== undefined) return { name, halVersion: known };
  return {
    ...unusable(`its halVersion is ${show(halVersion)} where one of ${halVersions.join(", ")} is needed`),
    name,
  };
}

function hasMethod(own: Device, method: keyof Device): boolean {
  return attempt(
    method,
    () => typeof own[method] === "function",
    () => false,
  );
}

function isPreparedModel(value: unknown): value is PreparedModel {
  return hasFields(value) && typeof value.execute === "function";
}

function supportedOf(answer: unknown, { main }: Model): SupportedOperations {
  const outcome = readOutcome(answer);
  if (!hasFields(answer) || outcome.status !== ErrorStatus.NONE) return { ...outcome, supported: [], reasons: [] };
  return { ...outcome, ...readSupport(answer, main.operations.length) };
}

function allocationOf(answer: unknown, name: string): AllocateResult {
  const outcome = readOutcome(answer);
  if (!hasFields(answer) || outcome.status !== ErrorStatus.NONE) return { ...outcome, buffer: null, token: 0 };
  const { buffer, token, inHostMemory } = answer;
  if (!isBuffer(buffer)) return broken("answered NONE without a buffer");
  if (typeof token !== "number" || !Number.isSafeInteger(token) || token <= 0) {
    closeSafely(buffer);
    return broken(`answered NONE with token ${show(token)} where a number above 0 is needed`);
  }
  return { ...outcome, buffer: guardBuffer(buffer, name), token, ...(inHostMemory === true && { inHostMemory }) };
}

function isBuffer(value: unknown): value is IBuffer {
  return hasFields(value) && typeof value.copyTo === "function" && typeof value.copyFrom === "function";
}

function guardBuffer(own: IBuffer, name: string): IBuffer {
  const refused = (refusal: Refusal): Outcome => refusal;
  return {
    copyTo: (memory) => attemptAsync(`${name}: copyTo`, async () => readOutcome(await own.copyTo(memory)), refused),
    copyFrom: (memory, dimensions) =>
      attemptAsync(`${name}: copyFrom`, async () => readOutcome(await own.copyFrom(memory, dimensions)), refused),
    close: () => closeSafely(own),
  };
}
