/**
 * Lifts: a driver of any HAL version as a canonical device. The driver gets only what its version can express: it is
 * asked about the slice of a model that fits its version, and prepares only models that fit it completely.
 */
import {
  type AllocateResult,
  type CompilationCache,
  type Device,
  ErrorStatus,
  type Model,
  type Outcome,
  type PreparedModel,
  type PrepareOptions,
  type PrepareResult,
  type V1_0,
  type V1_3,
} from "@nnhal/types";
import { hasFields, show } from "@nnhal/validation";
import { hasMethods, readAllocation } from "../guard/answers.ts";
import { atOnce, closeSafely, refuseUnreadable } from "../guard/attempt.ts";
import { failedAllocation, failedPreparation, failedSupport } from "../guard/failed.ts";
import { timedGuard } from "../guard/guard.ts";
import { noCapabilities } from "../guard/queries.ts";
import { failure, invalid } from "../guard/refusal.ts";
import { answerLimitsOf, withGrace } from "../guard/wait.ts";
import { launched, soundStatus } from "./callback.ts";
import { convertToV1_3 } from "./convert/v1-3.ts";
import { type Facts, guardFacts } from "./facts.ts";
import { refuseTimes } from "./guard-prepared-model.ts";
import { type LiftContext, type LiftOptions, refuseModelForDriver, refusePreparation } from "./lift-context.ts";
import { isV1_3Model, liftPreparedModel } from "./lift-prepared-model.ts";
import { supportOf } from "./lift-support.ts";
import { type AnyIDevice, oldDriverOf } from "./old-driver.ts";

/**
 * Makes a device of a driver of any HAL version. No method throws or rejects, even for a faulty driver, and every
 * answer comes by the deadline or within `answerLimit`. Throws a TypeError for a driver that is not an object.
 */
export function liftDevice(name: string, device: AnyIDevice, options: LiftOptions = {}): Device {
  if (!hasFields(device)) throw new TypeError(`lifting ${name}: expected an IDevice, got ${show(device)}`);
  const { extensions, log = () => {}, synchronous = true, strictSlicing = false } = options;
  const driver = oldDriverOf(device, log);
  const limits = answerLimitsOf(options, log);
  const waitUntil: LiftContext["waitUntil"] = (deadline) =>
    driver.version >= "1.3" ? withGrace(deadline, limits) : deadline;
  const preparedModels: LiftContext["preparedModels"] = new WeakMap();
  return lift(device, {
    ...{ name, driver, extensions, log, synchronous, strictSlicing, preparedModels },
    ...{ limits, waitUntil },
  });
}

function lift(device: AnyIDevice, context: LiftContext): Device {
  const { name, driver, limits } = context;
  const { facts, version } = driver;
  const own: Facts = {
    ...{
      getType: () => facts.getType(),
      getVersionString: () => facts.getVersionString(),
      getSupportedExtensions: () => facts.getSupportedExtensions(),
      getNumberOfCacheFilesNeeded: () => facts.getNumberOfCacheFilesNeeded(),
      getStatus: () => device.getStatus(),
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
      const sound: PrepareOptions = { ...others, ...(isCache(cache) && { cache }) };
      const launch = (callback: V1_3.IPreparedModelCallback) => driver.prepareModel(model, sound, callback);
      return prepare("prepareModel", model, options.deadline, context, launch);
    },
    async prepareModelFromCache(cache, options = {}) {
      const { prepareModelFromCache } = driver;
      if (prepareModelFromCache === undefined) {
        const why = `${name} is of HAL ${version}, which has no compilation caching`;
        return failedPreparation(failure(`prepareModelFromCache: ${why}`));
      }
      const refusal = refuseUnreadable(
        () =>
          refuseTimes(options, "deadline") ??
          (isCache(cache) ? undefined : invalid("the cache has no lists of handles, or no token of bytes")),
      );
      if (refusal !== undefined) return failedPreparation(refusal);
      const launch = (callback: V1_3.IPreparedModelCallback) => prepareModelFromCache(cache, options, callback);
      return prepare("prepareModelFromCache", undefined, options.deadline, context, launch);
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
      const own = preparedModels.map((one: PreparedModel | null) => {
        const model = one === null ? undefined : context.preparedModels.get(one);
        return model !== undefined && isV1_3Model(model) ? model : null;
      });
      const guard = timedGuard(name, limits);
      const call = async () => readAllocation(await allocate(desc, own, inputRoles, outputRoles), guard);
      const drop = ({ buffer }: AllocateResult) => buffer?.close?.();
      return guard.call("allocate", call, failedAllocation, { drop });
    },
  };
}

/** Returns true if a cache can be passed to a driver. The driver checks its handles. */
function isCache(cache: unknown): cache is CompilationCache {
  return (
    hasFields(cache) &&
    Array.isArray(cache.modelCache) &&
    Array.isArray(cache.dataCache) &&
    cache.token instanceof Uint8Array
  );
}

/** Launches a preparation and lifts the prepared model that its callback gets. */
function prepare(
  method: string,
  model: Model | undefined,
  deadline: bigint | undefined,
  context: LiftContext,
  launch: (callback: V1_3.IPreparedModelCallback) => Outcome,
): Promise<PrepareResult> {
  const { name, limits, waitUntil, log } = context;
  type Told = Outcome & { readonly own: V1_0.IPreparedModel | null };
  const told = launched<Told>(
    (settle) => {
      const notify = (status: Outcome["status"], own: Told["own"]) => settle({ status: soundStatus(status), own });
      return launch({ notify, notify_1_2: notify, notify_1_3: notify });
    },
    (failed) => ({ ...failed, own: null }),
    log,
  );
  const lifted = async (): Promise<PrepareResult> => {
    const { own, ...outcome } = await told;
    const isPrepared = outcome.status === ErrorStatus.NONE && hasMethods(own, "execute");
    if (own && isPrepared) {
      const preparedModel = liftPreparedModel(own, model, context);
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
