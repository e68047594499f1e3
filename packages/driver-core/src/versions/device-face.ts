/**
 * The faces of a device: any canonical device as an IDevice of each HAL version. A face has the methods of its version
 * and of earlier ones. It checks arguments, so that a launch reports faults at once.
 */
import {
  type AllocateResult,
  type BufferDesc,
  type BufferRole,
  BYTE_SIZE_OF_CACHE_TOKEN,
  type CompilationCache,
  type Device,
  ErrorStatus,
  type HalVersion,
  type Handle,
  type Outcome,
  type PreparedModel,
  type PrepareOptions,
  type PrepareResult,
  type V1_0,
  type V1_1,
  type V1_2,
  type V1_3,
} from "@nnhal/types";
import { deadlineOf } from "@nnhal/utils";
import { hasFields, show } from "@nnhal/validation";
import { readAllocation } from "../guard/answers.ts";
import { closeSafely, refuseUnreadable } from "../guard/attempt.ts";
import { failedAllocation, failedPreparation } from "../guard/failed.ts";
import { timedGuard } from "../guard/guard.ts";
import { failure, invalid } from "../guard/refusal.ts";
import { answerLimitsOf, withGrace } from "../guard/wait.ts";
import { launch, whenAnswered } from "./callback.ts";
import type { AnyModel } from "./convert/any.ts";
import { convertToV1_0 } from "./convert/v1-0.ts";
import { convertToV1_1 } from "./convert/v1-1.ts";
import { convertToV1_2 } from "./convert/v1-2.ts";
import { convertToV1_3 } from "./convert/v1-3.ts";
import {
  type FaceContext,
  type FaceOptions,
  narrow,
  narrowOutcome,
  narrowType,
  refuseModel,
  refuseQuality,
  soundPrepareResult,
} from "./face-context.ts";
import { guardFacts } from "./facts.ts";
import { refuseTimes } from "./guard-prepared-model.ts";
import { preparedModelV1_0, preparedModelV1_2, preparedModelV1_3 } from "./prepared-model-face.ts";

/** A device as a driver of HAL 1.0. */
export function asV1_0(device: Device, options: FaceOptions = {}): V1_0.IDevice {
  return methodsV1_0(device, contextOf(device, options, preparedModelV1_0));
}

/** A device as a driver of HAL 1.1. */
export function asV1_1(device: Device, options: FaceOptions = {}): V1_1.IDevice {
  const context = contextOf(device, options, preparedModelV1_0);
  return { ...methodsV1_0(device, context), ...methodsV1_1(device, context) };
}

/** A device as a driver of HAL 1.2. */
export function asV1_2(device: Device, options: FaceOptions = {}): V1_2.IDevice {
  const context = contextOf(device, options, preparedModelV1_2);
  return { ...methodsV1_0(device, context), ...methodsV1_1(device, context), ...methodsV1_2(device, context) };
}

/** A device as a driver of HAL 1.3. */
export function asV1_3(device: Device, options: FaceOptions = {}): V1_3.IDevice {
  const presented = new WeakMap<object, PreparedModel>();
  const context = contextOf(device, options, (prepared) => {
    const face = preparedModelV1_3(prepared);
    presented.set(face, prepared.preparedModel);
    return face;
  });
  return {
    ...methodsV1_0(device, context),
    ...methodsV1_1(device, context),
    ...methodsV1_2(device, context),
    ...methodsV1_3(device, context, presented),
  };
}

/** The methods that a version adds. */
type Added<Newer, Older> = Omit<Newer, keyof Older>;

/** The context of a face. `present`: makes the face of a prepared model. */
export function contextOf<Presented extends object>(
  device: Device,
  options: FaceOptions,
  present: (context: Parameters<typeof preparedModelV1_0>[0]) => Presented,
): FaceContext<Presented> {
  if (!hasFields(device)) throw new TypeError(`presenting a device: expected a Device, got ${show(device)}`);
  const { extensions, log = () => {} } = options;
  const { name } = device;
  const limits = answerLimitsOf(options, log);
  return {
    ...{ extensions, log, limits, name, facts: guardFacts(device, name, limits) },
    present: (preparedModel, source) => present({ preparedModel, source, log, limits, name }),
  };
}

const noCallback = invalid("the callback is null");

/** A preparation that a HAL method launches. */
export interface Preparation<Presented extends object> {
  readonly version: HalVersion;
  /** Returns the model, the same at every call. Throws if it cannot be read. */
  readonly model: () => AnyModel;
  /** Faults of other arguments than the model. */
  check?(): Outcome | undefined;
  /** Called if nothing is wrong. */
  options(): PrepareOptions;
  notify(status: ErrorStatus, preparedModel: Presented | null): unknown;
}

/** Launches a preparation. */
export function prepare<Presented extends object>(
  device: Device,
  context: FaceContext<Presented>,
  { version, model, check, options, notify }: Preparation<Presented>,
): Outcome {
  let settings: PrepareOptions = {};
  return launch<PrepareResult>(
    {
      check() {
        settings = options();
        return check?.() ?? refuseTimes(settings, "deadline") ?? refuseModel(model(), version, context);
      },
      run: () => waitForPreparation(device.prepareModel(convertToV1_3.model(model()), settings), settings, context),
      answerFailure: failedPreparation,
      notify({ status, message, preparedModel }) {
        if (message !== undefined) context.log(`prepareModel: ${message}`);
        // A model that cannot be read has no prepared one.
        const present = (prepared: PreparedModel) =>
          context.present(prepared, { model: convertToV1_3.model(model()), version });
        return notify(status, preparedModel && present(preparedModel));
      },
    },
    context.log,
  );
}

/** Waits for a preparation, and reads its result. */
function waitForPreparation(
  answer: Promise<PrepareResult>,
  { deadline }: Pick<PrepareOptions, "deadline">,
  { limits, name }: FaceContext<object>,
): Promise<PrepareResult> {
  const read = async () => soundPrepareResult(await answer, limits);
  const drop = ({ preparedModel }: PrepareResult) => {
    if (preparedModel !== null) closeSafely(preparedModel, (message) => limits.log(`${name}: ${message}`));
  };
  const end = withGrace(deadline, limits);
  return timedGuard(name, limits).call("prepareModel", read, failedPreparation, { deadline: end, drop });
}

/** A preparation from a cache, that a HAL method launches. */
export function prepareFromCache<Presented extends object>(
  device: Device,
  context: FaceContext<Presented>,
  cache: CompilationCache,
  options: () => Pick<PrepareOptions, "deadline">,
  notify: (status: ErrorStatus, preparedModel: Presented | null) => unknown,
): Outcome {
  const noCaching = failure("prepareModelFromCache: the device has no compilation caching");
  let settings: Pick<PrepareOptions, "deadline"> = {};
  return launch<PrepareResult>(
    {
      check() {
        if (device.prepareModelFromCache === undefined) return noCaching;
        settings = options();
        const { length } = cache.token;
        if (length === BYTE_SIZE_OF_CACHE_TOKEN) return refuseTimes(settings, "deadline");
        return invalid(`the cache token: expected ${BYTE_SIZE_OF_CACHE_TOKEN} bytes, got ${length}`);
      },
      run: () =>
        device.prepareModelFromCache === undefined
          ? Promise.resolve(failedPreparation(noCaching))
          : waitForPreparation(device.prepareModelFromCache(cache, settings), settings, context),
      answerFailure: failedPreparation,
      notify({ status, message, preparedModel }) {
        if (message !== undefined) context.log(`prepareModelFromCache: ${message}`);
        return notify(status, preparedModel === null ? null : context.present(preparedModel, undefined));
      },
    },
    context.log,
  );
}

/**
 * The caller's cache files for the prepared model. A fault in them does not fail the preparation, so they can be any
 * values.
 */
export function cacheOptions(
  modelCache: readonly Handle[],
  dataCache: readonly Handle[],
  token: Uint8Array,
): Pick<PrepareOptions, "cache"> {
  if (!Array.isArray(modelCache) || !Array.isArray(dataCache)) return {};
  return modelCache.length + dataCache.length > 0 ? { cache: { modelCache, dataCache, token } } : {};
}

function deadlineOptions(deadline: V1_3.OptionalTimePoint): Pick<PrepareOptions, "deadline"> {
  const time = deadlineOf(deadline);
  return time === undefined ? {} : { deadline: time };
}

/** The operations of a model that the device supports. */
export function supportedOperations(
  context: FaceContext<object>,
  model: AnyModel,
  version: HalVersion,
): ReturnType<V1_3.IDevice["getSupportedOperations_1_3"]> {
  const refusal = refuseUnreadable(() => refuseModel(model, version, context));
  if (refusal !== undefined) return { ...refusal, supportedOperations: [] };
  const answer = context.facts.getSupportedOperations(convertToV1_3.model(model));
  return whenAnswered(answer, ({ status, message, supported, reasons }) => {
    for (const reason of reasons) if (reason !== undefined) context.log(`getSupportedOperations: ${reason}`);
    return {
      status,
      ...(message !== undefined && { message }),
      supportedOperations: status === ErrorStatus.NONE ? supported : [],
    };
  });
}

/** `supportedOperations`, with a status of HAL 1.0 to 1.2. */
function narrowSupport(
  context: FaceContext<object>,
  model: AnyModel,
  version: HalVersion,
): ReturnType<V1_0.IDevice["getSupportedOperations"]> {
  return whenAnswered(
    supportedOperations(context, model, version),
    ({ supportedOperations: supported, ...outcome }) => ({
      ...narrowOutcome(outcome),
      supportedOperations: supported,
    }),
  );
}

function methodsV1_0(device: Device, context: FaceContext<V1_0.IPreparedModel>): V1_0.IDevice {
  return {
    getCapabilities() {
      const { capabilities, ...outcome } = context.facts.getCapabilities();
      return { ...narrowOutcome(outcome), capabilities: convertToV1_0.capabilities(capabilities, context.log).value };
    },
    getSupportedOperations: (model) => narrowSupport(context, model, "1.0"),
    prepareModel(model, callback) {
      if (!callback) return narrowOutcome(noCallback);
      const outcome = prepare(device, context, {
        version: "1.0",
        model: () => model,
        options: () => ({}),
        notify: (status, preparedModel) => callback.notify(narrow(status), preparedModel),
      });
      return narrowOutcome(outcome);
    },
    getStatus: () => context.facts.getStatus(),
  };
}

function methodsV1_1(device: Device, context: FaceContext<V1_0.IPreparedModel>): Added<V1_1.IDevice, V1_0.IDevice> {
  return {
    getCapabilities_1_1() {
      const { capabilities, ...outcome } = context.facts.getCapabilities();
      return { ...narrowOutcome(outcome), capabilities: convertToV1_1.capabilities(capabilities, context.log).value };
    },
    getSupportedOperations_1_1: (model) => narrowSupport(context, model, "1.1"),
    prepareModel_1_1(model, preference, callback) {
      if (!callback) return narrowOutcome(noCallback);
      const outcome = prepare(device, context, {
        version: "1.1",
        model: () => model,
        check: () => refuseQuality(preference),
        options: () => ({ preference }),
        notify: (status, preparedModel) => callback.notify(narrow(status), preparedModel),
      });
      return narrowOutcome(outcome);
    },
  };
}

function methodsV1_2(device: Device, context: FaceContext<V1_2.IPreparedModel>): Added<V1_2.IDevice, V1_1.IDevice> {
  return {
    getVersionString() {
      const { version, ...outcome } = context.facts.getVersionString();
      return { ...narrowOutcome(outcome), version };
    },
    getType() {
      const { type, ...outcome } = context.facts.getType();
      return { ...narrowOutcome(outcome), type: narrowType(type) };
    },
    getCapabilities_1_2() {
      const { capabilities, ...outcome } = context.facts.getCapabilities();
      return { ...narrowOutcome(outcome), capabilities: convertToV1_2.capabilities(capabilities, context.log).value };
    },
    getSupportedExtensions() {
      const { extensions, ...outcome } = context.facts.getSupportedExtensions();
      return { ...narrowOutcome(outcome), extensions };
    },
    getSupportedOperations_1_2: (model) => narrowSupport(context, model, "1.2"),
    getNumberOfCacheFilesNeeded() {
      const { numModelCache, numDataCache, ...outcome } = context.facts.getNumberOfCacheFilesNeeded();
      return { ...narrowOutcome(outcome), numModelCache, numDataCache };
    },
    prepareModel_1_2(model, preference, modelCache, dataCache, token, callback) {
      if (!callback) return narrowOutcome(noCallback);
      const outcome = prepare(device, context, {
        version: "1.2",
        model: () => model,
        check: () => refuseQuality(preference),
        options: () => ({ preference, ...cacheOptions(modelCache, dataCache, token) }),
        notify: (status, preparedModel) => callback.notify_1_2(narrow(status), preparedModel),
      });
      return narrowOutcome(outcome);
    },
    prepareModelFromCache(modelCache, dataCache, token, callback) {
      if (!callback) return narrowOutcome(noCallback);
      const outcome = prepareFromCache(
        device,
        context,
        { modelCache, dataCache, token },
        () => ({}),
        (status, preparedModel) => callback.notify_1_2(narrow(status), preparedModel),
      );
      return narrowOutcome(outcome);
    },
  };
}

function methodsV1_3(
  device: Device,
  context: FaceContext<V1_3.IPreparedModel>,
  presented: WeakMap<object, PreparedModel>,
): Added<V1_3.IDevice, V1_2.IDevice> {
  return {
    getCapabilities_1_3: () => context.facts.getCapabilities(),
    getSupportedOperations_1_3: (model) => supportedOperations(context, model, "1.3"),
    prepareModel_1_3(model, preference, priority, deadline, modelCache, dataCache, token, callback) {
      if (!callback) return noCallback;
      return prepare(device, context, {
        version: "1.3",
        model: () => model,
        check: () => refuseQuality(preference, priority),
        options: () => ({
          preference,
          priority,
          ...deadlineOptions(deadline),
          ...cacheOptions(modelCache, dataCache, token),
        }),
        notify: (status, preparedModel) => callback.notify_1_3(status, preparedModel),
      });
    },
    prepareModelFromCache_1_3(deadline, modelCache, dataCache, token, callback) {
      if (!callback) return noCallback;
      return prepareFromCache(
        device,
        context,
        { modelCache, dataCache, token },
        () => deadlineOptions(deadline),
        (status, preparedModel) => callback.notify_1_3(status, preparedModel),
      );
    },
    allocate: (...request) => allocate(device, context, presented, request),
  };
}

/** Allocates a buffer. `presented`: the prepared models behind the faces of the device. */
export async function allocate(
  device: Device,
  { name, limits }: FaceContext<object>,
  presented: WeakMap<object, PreparedModel>,
  [desc, preparedModels, inputRoles, outputRoles]: Readonly<AllocateArguments>,
): Promise<AllocateResult> {
  if (device.allocate === undefined) {
    return failedAllocation(failure("allocate: the device has no memory of its own"));
  }
  if (!Array.isArray(preparedModels)) return failedAllocation(invalid("preparedModels is not an array"));
  const guard = timedGuard(name, limits);
  const call = async () => {
    const known = preparedModels.map((face) => (hasFields(face) ? (presented.get(face) ?? null) : null));
    return readAllocation(await device.allocate?.(desc, known, inputRoles, outputRoles), guard);
  };
  const drop = ({ buffer }: AllocateResult) => buffer?.close?.();
  return guard.call("allocate", call, failedAllocation, { drop });
}

/** The arguments of `allocate`, with faces of prepared models. */
type AllocateArguments = [
  desc: BufferDesc,
  preparedModels: readonly (object | null)[],
  inputRoles: readonly BufferRole[],
  outputRoles: readonly BufferRole[],
];
