/**
 * Lifts: a driver of any HAL version as a canonical device. The driver gets only what its version can express: it is
 * asked about the slice of a model that fits its version, and prepares only models that fit it completely.
 */
import {
  type AllocateResult,
  BYTE_SIZE_OF_CACHE_TOKEN,
  type CompilationCache,
  type Device,
  ErrorStatus,
  type Model,
  type Outcome,
  type PreparedModel,
  type PrepareOptions,
  type PrepareResult,
} from "@nnhal/types";
import type { AIDL1 } from "@nnhal/types/aidl";
import { hasFields, show } from "@nnhal/validation";
import { hasMethods, readAllocation } from "../guard/answers.ts";
import { atOnce, closeSafely, refuseUnreadable } from "../guard/attempt.ts";
import { failedAllocation, failedPreparation, failedSupport } from "../guard/failed.ts";
import { timedGuard } from "../guard/guard.ts";
import { noCapabilities } from "../guard/queries.ts";
import { failure, invalid } from "../guard/refusal.ts";
import { answerLimitsOf, withGrace } from "../guard/wait.ts";
import { aidlDriver } from "./aidl/driver.ts";
import { liftAidlModel } from "./aidl/lift-prepared-model.ts";
import { deadlineConverter } from "./aidl/time.ts";
import { launchTask, soundStatus } from "./callback.ts";
import { convertToV1_3 } from "./convert/v1-3.ts";
import { type Facts, guardFacts } from "./facts.ts";
import { refuseTimes } from "./guard-prepared-model.ts";
import { type LiftContext, type LiftOptions, refuseModelForDriver, refusePreparation } from "./lift-context.ts";
import { liftPreparedModel } from "./lift-prepared-model.ts";
import { supportOf } from "./lift-support.ts";
import { type AnyIDevice, type NotifyPrepared, type OldDriver, oldDriverOf } from "./old-driver.ts";

/**
 * Makes a device of a driver of any HAL version. No method throws or rejects, even for a faulty driver, and every
 * answer comes by the deadline or within `answerLimit`. Throws a TypeError for a driver that is not an object, and a RangeError for one of
 * AIDL whose version is below 1.
 */
export function liftDevice(name: string, device: AnyIDevice | AIDL1.IDevice, options: LiftOptions = {}): Device {
  const isObject: boolean = hasFields(device);
  if (!isObject) throw new TypeError(`lifting ${name}: expected an IDevice, got ${show(device)}`);
  const { extensions, log = () => {}, synchronous = true, strictSlicing = false } = options;
  const limits = answerLimitsOf(options, log);
  const contextOf = <Own extends object>(driver: OldDriver<Own>): LiftContext<Own> => ({
    ...{ name, driver, extensions, log, synchronous, strictSlicing, preparedModels: new WeakMap() },
    ...{ limits, waitUntil: (deadline) => (driver.version >= "1.3" ? withGrace(deadline, limits) : deadline) },
  });
  if (isOfAidl(device)) {
    const deadlines = deadlineConverter(options, limits.now);
    return lift(contextOf(aidlDriver(device, log, deadlines)), (own, model, context) =>
      liftAidlModel(own, model, context, deadlines),
    );
  }
  return lift(contextOf(oldDriverOf(device, log)), liftPreparedModel);
}

function isOfAidl(device: AnyIDevice | AIDL1.IDevice): device is AIDL1.IDevice {
  return "getInterfaceVersion" in device;
}

/** Makes a device of a driver. `liftModel`: makes a canonical prepared model of the driver's. */
function lift<Own extends object>(
  context: LiftContext<Own>,
  liftModel: (own: Own, model: Model | undefined, context: LiftContext<Own>) => PreparedModel,
): Device {
  const { name, driver, limits } = context;
  const { facts, version } = driver;
  const own: Facts = {
    ...{
      getType: () => facts.getType(),
      getVersionString: () => facts.getVersionString(),
      getSupportedExtensions: () => facts.getSupportedExtensions(),
      getNumberOfCacheFilesNeeded: () => facts.getNumberOfCacheFilesNeeded(),
      getStatus: () => facts.getStatus(),
    },
    getCapabilities() {
      const { status, message, capabilities } = atOnce(driver.getCapabilities());
      const outcome = { status, ...(message !== undefined && { message }) };
      if (status !== ErrorStatus.NONE) return { ...outcome, capabilities: noCapabilities };
      return { ...outcome, capabilities: convertToV1_3.capabilities(capabilities) };
    },
    getSupportedOperations: (model) => supportOf(model, context),
  };
  const sound = guardFacts(own, name, limits);
  return {
    name,
    halVersion: version,
    ...sound,
    getSupportedOperations(model) {
      const refusal = refuseUnreadable(() => refuseModelForDriver(model, context));
      return refusal === undefined ? sound.getSupportedOperations(model) : failedSupport(refusal);
    },
    async prepareModel(model, options = {}) {
      const refusal = refuseUnreadable(
        () => refuseTimes(options, "deadline") ?? refusePreparation(model, options, context),
      );
      if (refusal !== undefined) return failedPreparation(refusal);
      const { cache, ...others } = options;
      const hasCache = isCache(cache);
      // The model is prepared without a cache that cannot be used.
      if (cache !== undefined && !hasCache) context.log(`${name}: prepareModel: nothing is cached: ${noCacheText}`);
      const sound: PrepareOptions = { ...others, ...(hasCache && { cache }) };
      const launch = (notify: NotifyPrepared<Own>) => driver.prepareModel(model, sound, notify);
      return prepare("prepareModel", options.deadline, context, launch, (own) => liftModel(own, model, context));
    },
    async prepareModelFromCache(cache, options = {}) {
      const { prepareModelFromCache } = driver;
      if (prepareModelFromCache === undefined) {
        const why = `${name} is of HAL ${version}, which has no compilation caching`;
        return failedPreparation(failure(`prepareModelFromCache: ${why}`));
      }
      const refusal = refuseUnreadable(
        () => refuseTimes(options, "deadline") ?? (isCache(cache) ? undefined : invalid(noCacheText)),
      );
      if (refusal !== undefined) return failedPreparation(refusal);
      const method = "prepareModelFromCache";
      const launch = (notify: NotifyPrepared<Own>) => prepareModelFromCache(cache, options, notify);
      return prepare(method, options.deadline, context, launch, (own) => liftModel(own, undefined, context));
    },
    async allocate(desc, preparedModels, inputRoles, outputRoles) {
      const { allocate } = driver;
      if (allocate === undefined) {
        const why = `${name} is of HAL ${version}, which has no memory of the device's own`;
        return failedAllocation(failure(`allocate: ${why}`));
      }
      if (!Array.isArray(preparedModels)) {
        return failedAllocation(invalid(`preparedModels: expected an array, got ${show(preparedModels)}`));
      }
      const misshapen = refuseUnreadable(() => refuseAllocation(desc, inputRoles, outputRoles));
      if (misshapen !== undefined) return failedAllocation(misshapen);
      const own = preparedModels.map((one: PreparedModel | null) =>
        one === null ? null : (context.preparedModels.get(one) ?? null),
      );
      const guard = timedGuard(name, limits);
      const call = async () => readAllocation(await allocate(desc, own, inputRoles, outputRoles), guard);
      const drop = ({ buffer }: AllocateResult) => buffer?.close?.();
      return guard.call("allocate", call, failedAllocation, { drop });
    },
  };
}

/** Returns why the arguments of an allocation, which can be any values, have not the form of some. */
function refuseAllocation(desc: unknown, inputRoles: unknown, outputRoles: unknown): Outcome | undefined {
  if (!hasFields(desc)) return invalid(`desc: expected an object, got ${show(desc)}`);
  const lists = { "desc.dimensions": Reflect.get(desc, "dimensions"), inputRoles, outputRoles };
  for (const [name, list] of Object.entries(lists)) {
    if (!Array.isArray(list)) return invalid(`${name}: expected an array, got ${show(list)}`);
  }
  return undefined;
}

const noCacheText = `the cache has no lists of handles, or no token of ${BYTE_SIZE_OF_CACHE_TOKEN} bytes`;

/** Returns true if a cache can be passed to a driver. The driver checks its handles. */
function isCache(cache: unknown): cache is CompilationCache {
  try {
    return (
      hasFields(cache) &&
      Array.isArray(cache.modelCache) &&
      Array.isArray(cache.dataCache) &&
      cache.token instanceof Uint8Array &&
      cache.token.length === BYTE_SIZE_OF_CACHE_TOKEN
    );
  } catch {
    return false;
  }
}

/** Launches a preparation and lifts the prepared model that its callback gets. */
function prepare<Own extends object>(
  method: string,
  deadline: bigint | undefined,
  context: LiftContext<Own>,
  launch: (notify: NotifyPrepared<Own>) => Outcome,
  liftModel: (own: Own) => PreparedModel,
): Promise<PrepareResult> {
  const { name, driver, limits, waitUntil, log } = context;
  type Told = Outcome & { readonly own: Own | null };
  const told = launchTask<Told>(
    (settle) => launch((status, own) => settle({ status: soundStatus(status), own })),
    (failed) => ({ ...failed, own: null }),
    log,
  );
  const lifted = async (): Promise<PrepareResult> => {
    const { own, ...outcome } = await told;
    const isPrepared = outcome.status === ErrorStatus.NONE && hasMethods(own, driver.executeMethod);
    if (own && isPrepared) {
      const preparedModel = liftModel(own);
      context.preparedModels.set(preparedModel, own);
      return { status: ErrorStatus.NONE, preparedModel };
    }
    if (hasFields(own)) closeSafely(own, (message) => log(`${name}: ${message}`));
    if (outcome.status !== ErrorStatus.NONE) return failedPreparation(outcome);
    return failedPreparation(failure(`${name}: the driver reported success without a prepared model`));
  };
  const drop = ({ preparedModel }: PrepareResult) => preparedModel?.close();
  return timedGuard(name, limits).call(method, lifted, failedPreparation, { deadline: waitUntil(deadline), drop });
}
