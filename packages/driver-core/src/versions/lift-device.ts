/**
 * Lifts: a driver of any HAL version as a canonical device. What its version cannot express is not asked of it: of a
 * model it is shown the slice that it can understand, and it prepares only models that it understands whole.
 */
import {
  type Device,
  DeviceStatus,
  ErrorStatus,
  type Model,
  type Outcome,
  type PrepareResult,
  type V1_3,
} from "@nnhal/types";
import { convertToV1_3 } from "@nnhal/utils";
import { steadyClock } from "../device/steady-clock.ts";
import { failure, launched, soundStatus } from "./callback.ts";
import { type LiftContext, type LiftOptions, refuseModelForDriver, refusePreparation } from "./lift-context.ts";
import { isV1_3Model, liftPreparedModel } from "./lift-prepared-model.ts";
import { supportOf } from "./lift-support.ts";
import { type AnyIDevice, noCapabilities, oldDriverOf } from "./old-driver.ts";

/** A driver of any HAL version as a device with a name. */
export function liftDevice(name: string, device: AnyIDevice, options: LiftOptions = {}): Device {
  const { operations, now = steadyClock, log = () => {}, synchronous = true, strictSlicing = false } = options;
  const driver = oldDriverOf(device, log);
  const preparedModels: LiftContext["preparedModels"] = new WeakMap();
  return lift(device, { name, driver, operations, now, log, synchronous, strictSlicing, preparedModels });
}

function lift(device: AnyIDevice, context: LiftContext): Device {
  const { name, driver } = context;
  const { facts, version } = driver;
  /** Makes an answer of whatever a driver throws. */
  const attempt = <Answer>(method: string, call: () => Answer, failed: (outcome: Outcome) => Answer): Answer => {
    try {
      return call();
    } catch (error) {
      return failed(failure(`${name}: ${method}`, error));
    }
  };
  return {
    name,
    halVersion: version,
    getCapabilities: () =>
      attempt(
        "getCapabilities",
        () => {
          const { capabilities, ...outcome } = driver.getCapabilities();
          if (outcome.status !== ErrorStatus.NONE) return { ...sound(outcome), capabilities: noCapabilities };
          return { ...outcome, capabilities: convertToV1_3.capabilities(capabilities) };
        },
        (outcome) => ({ ...outcome, capabilities: noCapabilities }),
      ),
    getType: () =>
      attempt(
        "getType",
        () => facts.getType(),
        (outcome) => ({ ...outcome, type: 0 }),
      ),
    getVersionString: () =>
      attempt(
        "getVersionString",
        () => facts.getVersionString(),
        (outcome) => ({ ...outcome, version: "" }),
      ),
    getSupportedExtensions: () =>
      attempt(
        "getSupportedExtensions",
        () => facts.getSupportedExtensions(),
        (outcome) => ({ ...outcome, extensions: [] }),
      ),
    getNumberOfCacheFilesNeeded: () =>
      attempt(
        "getNumberOfCacheFilesNeeded",
        () => facts.getNumberOfCacheFilesNeeded(),
        (outcome) => ({ ...outcome, numModelCache: 0, numDataCache: 0 }),
      ),
    getStatus: () =>
      attempt(
        "getStatus",
        () => device.getStatus(),
        () => DeviceStatus.UNKNOWN,
      ),
    getSupportedOperations(model) {
      const refusal = refuseModelForDriver(model, context);
      return refusal === undefined ? supportOf(model, context) : { ...refusal, supported: [], reasons: [] };
    },
    async prepareModel(model, options = {}) {
      const refusal = refusePreparation(model, options, context);
      if (refusal !== undefined) return { ...refusal, preparedModel: null };
      return prepare(model, context, (callback) => driver.prepareModel(model, options, callback));
    },
    async prepareModelFromCache(cache, options = {}) {
      if (driver.prepareModelFromCache === undefined) {
        const outcome = failure("prepareModelFromCache", `${name} is of HAL ${version}, which keeps no models`);
        return { ...outcome, preparedModel: null };
      }
      const { prepareModelFromCache } = driver;
      return prepare(undefined, context, (callback) => prepareModelFromCache(cache, options, callback));
    },
    async allocate(desc, preparedModels, inputRoles, outputRoles) {
      const nothing = { buffer: null, token: 0 };
      if (driver.allocate === undefined) {
        const why = `${name} is of HAL ${version}, which has no memory of the device's own`;
        return { ...failure("allocate", why), ...nothing };
      }
      try {
        const own = preparedModels.map((one) => {
          const model = one === null ? undefined : context.preparedModels.get(one);
          return model !== undefined && isV1_3Model(model) ? model : null;
        });
        const result = await driver.allocate(desc, own, inputRoles, outputRoles);
        return result.status === ErrorStatus.NONE ? result : { ...sound(result), ...nothing };
      } catch (error) {
        return { ...failure(`${name}: allocate`, error), ...nothing };
      }
    },
  };
}

/** An outcome from a driver, with a status that is one. */
function sound({ status, message }: Outcome): Outcome {
  return { status: soundStatus(status), ...(message !== undefined && { message }) };
}

/** Launches a preparation and lifts what its callback is given. */
async function prepare(
  model: Model | undefined,
  context: LiftContext,
  launch: (callback: V1_3.IPreparedModelCallback) => Outcome,
): Promise<PrepareResult> {
  type Told = Outcome & { readonly own: Parameters<typeof liftPreparedModel>[0] | null };
  const { own, ...outcome } = await launched<Told>(
    (settle) => {
      const notify = (status: Outcome["status"], own: Told["own"]) => settle({ status: soundStatus(status), own });
      return launch({ notify, notify_1_2: notify, notify_1_3: notify });
    },
    (failed) => ({ ...failed, own: null }),
  );
  if (outcome.status !== ErrorStatus.NONE) return { ...sound(outcome), preparedModel: null };
  if (!own) {
    const { name } = context;
    return { ...failure(name, "the model is prepared, but the callback was given none"), preparedModel: null };
  }
  const preparedModel = liftPreparedModel(own, model, context);
  context.preparedModels.set(preparedModel, own);
  return { status: ErrorStatus.NONE, preparedModel };
}
