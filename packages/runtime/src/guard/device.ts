/**
 * The guard between the runtime and devices, which are foreign code: the only place where the runtime calls a device. No
 * method of a guarded device throws, no promise of one rejects, and every answer keeps the rules of the HAL. If a device breaks
 * one, the answer is GENERAL_FAILURE, and the message names the device, the method and the rule. Calls that never end are bounded
 * in bounds.ts.
 */
import {
  attempt,
  attemptAsync,
  failedAllocation,
  failedPreparation,
  failedSupport,
  guardQueries,
  messageOf,
  readAllocation,
  readSupportedOperations,
  untimedGuard,
} from "@nnhal/driver-core/guard";
import {
  type Capabilities,
  type CompilationCache,
  canonicalHalVersion,
  type Device,
  ErrorStatus,
  type HalVersion,
  halVersions,
  type Model,
  type Outcome,
  type PreparedModel,
  type PrepareOptions,
  type PrepareResult,
  type SupportedOperations,
} from "@nnhal/types";
import { hasFields, readOutcome, show, throwBroken } from "@nnhal/validation";
import { type GuardedModel, guardModel, ownModel } from "./prepared-model.ts";

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
  /**
   * `options`: those of the preparation that the cache saves. `model`: the model that the cache should hold, to check answers against, and to
   * prepare again if the service of the prepared one is lost.
   */
  prepareModelFromCache?(
    cache: CompilationCache,
    options?: PrepareOptions,
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
    guard = guardOwn(device);
    guards.set(device, guard);
    guards.set(guard, guard);
  }
  return guard;
}

function guardOwn(own: Device): GuardedDevice {
  const { name, halVersion, flaw } = identityOf(own);
  const facts = { name, halVersion };
  const guard = untimedGuard(name);
  const queries = guardQueries(own, { mayLackType: halVersion < "1.2", namesMethod: true });
  const extensions = () => queries.getSupportedExtensions().extensions;
  // They do not change; each plan asks for them.
  let capabilities: (Outcome & { readonly capabilities: Capabilities }) | undefined;
  const getCapabilities = () => {
    if (capabilities !== undefined) return capabilities;
    const answer = queries.getCapabilities();
    if (answer.status === ErrorStatus.NONE) capabilities = answer;
    return answer;
  };
  /** Prepares a model once more, without the files and the deadline of the first time. */
  const prepareAnew = async (model: Model, options: PrepareOptions): Promise<PreparedModel | undefined> => {
    const answer: unknown = await own.prepareModel(model, { ...options, cache: undefined, deadline: undefined });
    const isPrepared = hasFields(answer) && answer.status === ErrorStatus.NONE;
    return isPrepared && isPreparedModel(answer.preparedModel) ? answer.preparedModel : undefined;
  };
  const prepare = (answer: unknown, model: Model | undefined, options: PrepareOptions = {}): GuardedPrepareResult => {
    const outcome = readOutcome(answer);
    const preparedModel = hasFields(answer) ? answer.preparedModel : undefined;
    if (outcome.status !== ErrorStatus.NONE) return failedPreparation(outcome);
    if (!isPreparedModel(preparedModel)) return throwBroken("answered NONE without a prepared model");
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
  const canKeep = hasMethod(own, "prepareModelFromCache");
  const canAllocate = hasMethod(own, "allocate");
  return {
    ...facts,
    own,
    ...(flaw !== undefined && { flaw }),
    ...queries,
    getCapabilities,
    getSupportedOperations: (model) =>
      attemptAsync(
        "getSupportedOperations",
        async () => readSupportedOperations(await own.getSupportedOperations(model), model),
        failedSupport,
      ),
    prepareModel: (model, options) =>
      attemptAsync(
        "prepareModel",
        async () => prepare(await own.prepareModel(model, options), model, options),
        failedPreparation,
      ),
    ...(canKeep && {
      prepareModelFromCache: (cache, options, model) =>
        attemptAsync(
          "prepareModelFromCache",
          async () => prepare(await own.prepareModelFromCache?.(cache, options, model), model, options),
          failedPreparation,
        ),
    }),
    ...(canAllocate && {
      allocate: (desc, models, inputRoles, outputRoles) =>
        guard.call(
          "allocate",
          async () => {
            const ownModels = models.map((model) => model && ownModel(model));
            return readAllocation(await own.allocate?.(desc, ownModels, inputRoles, outputRoles), guard);
          },
          failedAllocation,
        ),
    }),
  };
}

/** The name and the version, which are read once. */
function identityOf(own: Device): Pick<GuardedDevice, "name" | "halVersion" | "flaw"> {
  const unusable = (flaw: string) => ({ name: "a device without a name", halVersion: canonicalHalVersion, flaw });
  let name: unknown;
  let halVersion: unknown;
  try {
    ({ name, halVersion = canonicalHalVersion } = own);
  } catch (error) {
    return unusable(`reading its name and halVersion threw: ${messageOf(error)}`);
  }
  if (typeof name !== "string" || name === "") return unusable(`its name: expected a text, got ${show(name)}`);
  const known = halVersions.find((version) => version === halVersion);
  if (known !== undefined) return { name, halVersion: known };
  return {
    ...unusable(`its halVersion: expected one of ${halVersions.join(", ")}, got ${show(halVersion)}`),
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
