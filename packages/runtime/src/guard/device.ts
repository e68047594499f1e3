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
  DeviceType,
  ErrorStatus,
  type Extension,
  type HalVersion,
  halVersions,
  type IBuffer,
  MAX_NUMBER_OF_CACHE_FILES,
  type Model,
  type Outcome,
  type PerformanceInfo,
  type PreparedModel,
  type PrepareOptions,
  type PrepareResult,
  type SupportedOperations,
} from "@nnhal/types";
import { capabilitiesIssues, extensionIssues } from "@nnhal/validation";
import { attempt, attemptAsync, broken, isObject, outcomeOf, type Refusal, shown, textOf } from "./attempt.ts";
import { closeSafely, type GuardedModel, guardModel, ownModel } from "./prepared-model.ts";

/** A device behind the guard. */
export interface GuardedDevice extends Omit<Device, "prepareModel" | "prepareModelFromCache"> {
  /** The caller's device. */
  readonly own: Device;
  readonly halVersion: HalVersion;
  /** Why the device cannot be used: it has no name, or its version is unknown. */
  readonly flaw?: string;
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
        const { status, message = `status ${status}` } = outcomeOf(answer);
        if (status !== ErrorStatus.NONE) return { status, message: `${method}: ${message}`, ...nothing };
        return { status, ...read(isObject(answer) ? answer : {}) };
      },
      (refusal) => ({ ...refusal, ...nothing }),
    );
  const prepared = (answer: unknown, model: Model | undefined): GuardedPrepareResult => {
    const outcome = outcomeOf(answer);
    const preparedModel = isObject(answer) ? answer.preparedModel : undefined;
    if (outcome.status !== ErrorStatus.NONE) return { ...outcome, preparedModel: null };
    if (!isPreparedModel(preparedModel)) return broken("answered NONE without a prepared model");
    return { ...outcome, preparedModel: guardModel(preparedModel, model, facts) };
  };
  const unprepared = (refusal: Refusal): GuardedPrepareResult => ({ ...refusal, preparedModel: null });
  const canKeep = hasMethod(own, "prepareModelFromCache");
  const canAllocate = hasMethod(own, "allocate");
  return {
    ...facts,
    own,
    ...(flaw !== undefined && { flaw }),
    getCapabilities: () =>
      query("getCapabilities", ({ capabilities }) => ({ capabilities: capabilitiesOf(capabilities) }), {
        capabilities: unknownCapabilities,
      }),
    getType: () => query("getType", ({ type }) => ({ type: typeOf(type, halVersion) }), { type: DEVICE_TYPE_UNKNOWN }),
    getVersionString: () => query("getVersionString", ({ version }) => ({ version: textIn(version) }), { version: "" }),
    getSupportedExtensions: () =>
      query("getSupportedExtensions", ({ extensions }) => ({ extensions: extensionsOf(extensions) }), {
        extensions: [],
      }),
    getNumberOfCacheFilesNeeded: () =>
      query("getNumberOfCacheFilesNeeded", cacheFilesOf, { numModelCache: 0, numDataCache: 0 }),
    getSupportedOperations: (model) =>
      attempt(
        "getSupportedOperations",
        () => supportedOf(own.getSupportedOperations(model), model),
        (refusal): SupportedOperations => ({ ...refusal, supported: [], reasons: [] }),
      ),
    getStatus: () =>
      attempt(
        "getStatus",
        () => statusOf(own.getStatus()),
        () => DeviceStatus.UNKNOWN,
      ),
    prepareModel: (model, options) =>
      attemptAsync("prepareModel", async () => prepared(await own.prepareModel(model, options), model), unprepared),
    ...(canKeep && {
      prepareModelFromCache: (cache, options, model) =>
        attemptAsync(
          "prepareModelFromCache",
          async () => prepared(await own.prepareModelFromCache?.(cache, options), model),
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
  if (typeof name !== "string" || name === "") return unusable(`its name is ${shown(name)} where a text is needed`);
  const known = halVersions.find((version) => version === halVersion);
  if (known !== undefined) return { name, halVersion: known };
  return {
    ...unusable(`its halVersion is ${shown(halVersion)} where one of ${halVersions.join(", ")} is needed`),
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
  return isObject(value) && typeof value.execute === "function";
}

function capabilitiesOf(capabilities: unknown): Capabilities {
  const copy = plainCopy(capabilities);
  if (isCapabilities(copy)) return copy;
  // The rules describe what is wrong, whatever the value is.
  const [issue] = capabilitiesIssues(copy as Capabilities);
  return broken(`answered capabilities that are not valid: ${issue?.path}: ${issue?.message}`);
}

function isCapabilities(value: unknown): value is Capabilities {
  // The check accepts any value.
  return capabilitiesIssues(value as Capabilities).length === 0;
}

function extensionsOf(extensions: unknown): readonly Extension[] {
  const copy = plainCopy(extensions);
  if (isExtensions(copy)) return copy;
  const [issue] = extensionIssues(copy as readonly Extension[]);
  return broken(`answered extensions that are not valid: ${issue?.path}: ${issue?.message}`);
}

function isExtensions(value: unknown): value is readonly Extension[] {
  return extensionIssues(value as readonly Extension[]).length === 0;
}

/** A copy that does not change with the answer. A few levels deep: no answer has more. */
function plainCopy(value: unknown, levels = 5): unknown {
  if (levels === 0) return value;
  if (Array.isArray(value)) return Array.from(value, (item: unknown) => plainCopy(item, levels - 1));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, plainCopy(field, levels - 1)]));
}

function typeOf(type: unknown, halVersion: HalVersion): DeviceType | typeof DEVICE_TYPE_UNKNOWN {
  const known = Object.values(DeviceType).find((one) => one === type);
  if (known !== undefined) return known;
  if (type === DEVICE_TYPE_UNKNOWN && halVersion < "1.2") return DEVICE_TYPE_UNKNOWN;
  return broken(`answered type ${shown(type)}, which is not a DeviceType`);
}

function textIn(version: unknown): string {
  if (typeof version === "string" && version !== "") return version;
  return broken(`answered version ${shown(version)} where a text is needed`);
}

function cacheFilesOf({ numModelCache, numDataCache }: Readonly<Record<string, unknown>>) {
  const most = MAX_NUMBER_OF_CACHE_FILES;
  const files = (count: unknown, kind: string): number => {
    if (typeof count === "number" && Number.isInteger(count) && count >= 0 && count <= most) return count;
    return broken(`answered ${shown(count)} ${kind} cache files where at most ${most} are allowed`);
  };
  return { numModelCache: files(numModelCache, "model"), numDataCache: files(numDataCache, "data") };
}

function statusOf(status: unknown): DeviceStatus {
  return Object.values(DeviceStatus).find((one) => one === status) ?? DeviceStatus.UNKNOWN;
}

function supportedOf(answer: unknown, { main }: Model): SupportedOperations {
  const outcome = outcomeOf(answer);
  if (!isObject(answer) || outcome.status !== ErrorStatus.NONE) return { ...outcome, supported: [], reasons: [] };
  const count = main.operations.length;
  const { supported, reasons, dispatches } = answer;
  if (!isListOf(supported, count, isBoolean)) {
    const length = Array.isArray(supported) ? supported.length : undefined;
    const problem = length === undefined || length === count ? shown(supported) : `${length} entries`;
    return broken(`answered NONE with ${problem} as supported, where ${count} booleans are needed`);
  }
  if (dispatches !== undefined && !isListOf(dispatches, count, isDispatches)) {
    return broken(`answered dispatches that are not ${count} numbers of at least 0`);
  }
  const texts = Array.isArray(reasons) ? reasons : [];
  return {
    ...outcome,
    supported: [...supported],
    reasons: supported.map((yes, index) => (!yes && typeof texts[index] === "string" ? texts[index] : undefined)),
    ...(dispatches !== undefined && { dispatches: [...dispatches] }),
  };
}

function isListOf<Item>(value: unknown, count: number, isItem: (item: unknown) => item is Item): value is Item[] {
  if (!Array.isArray(value) || value.length !== count) return false;
  for (let index = 0; index < count; index++) if (!isItem(value[index])) return false;
  return true;
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === "boolean";
}

function isDispatches(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value < Number.POSITIVE_INFINITY;
}

function allocationOf(answer: unknown, name: string): AllocateResult {
  const outcome = outcomeOf(answer);
  if (!isObject(answer) || outcome.status !== ErrorStatus.NONE) return { ...outcome, buffer: null, token: 0 };
  const { buffer, token, inHostMemory } = answer;
  if (!isBuffer(buffer)) return broken("answered NONE without a buffer");
  if (typeof token !== "number" || !Number.isSafeInteger(token) || token <= 0) {
    closeSafely(buffer);
    return broken(`answered NONE with token ${shown(token)} where a number above 0 is needed`);
  }
  return { ...outcome, buffer: guardBuffer(buffer, name), token, ...(inHostMemory === true && { inHostMemory }) };
}

function isBuffer(value: unknown): value is IBuffer {
  return isObject(value) && typeof value.copyTo === "function" && typeof value.copyFrom === "function";
}

function guardBuffer(own: IBuffer, name: string): IBuffer {
  const refused = (refusal: Refusal): Outcome => refusal;
  return {
    copyTo: (memory) => attemptAsync(`${name}: copyTo`, async () => outcomeOf(await own.copyTo(memory)), refused),
    copyFrom: (memory, dimensions) =>
      attemptAsync(`${name}: copyFrom`, async () => outcomeOf(await own.copyFrom(memory, dimensions)), refused),
    close: () => closeSafely(own),
  };
}
