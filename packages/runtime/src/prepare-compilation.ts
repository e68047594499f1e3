/**
 * The preparation of a compilation: divides its model among its devices and prepares the parts, from a cache if there is one.
 */
import type { Plan, Unplannable } from "@nnhal/driver-core/partition";
import {
  BYTE_SIZE_OF_CACHE_TOKEN,
  DeviceStatus,
  ErrorStatus,
  type ExecutionPreference,
  type Model as HalModel,
  type Hints,
  type Priority,
} from "@nnhal/types";
import { type Logger, loadOnce, makeDeadline } from "@nnhal/utils";
import type { Caching } from "./caching.ts";
import { describe, expectGiven } from "./given.ts";
import type { GuardedDevice } from "./guard/device.ts";
import { type CheckedDivideOptions, type Divided, divideAndPrepare, type PrepareParts } from "./plan/divide.ts";
import type { PrepareModel } from "./plan/observe.ts";
import { convertErrorStatusToResultCode, expect, NeuralNetworksError, ResultCode } from "./result-code.ts";

const ofCaches = loadOnce(() => import("./caching.ts"));

/** The settings that an application makes before `finish`. */
export interface CompilationSettings {
  preference: ExecutionPreference;
  priority: Priority;
  /** Maximum duration in nanoseconds; undefined: none. */
  timeout?: bigint | undefined;
  caching?: Caching;
  /** For the driver. */
  hints?: Hints;
}

/** Checks and copies the arguments of `setCaching`. Throws UNEXPECTED_NULL or BAD_DATA. */
export function takeCaching(directory: string, token: Uint8Array, what: string): Caching {
  expectGiven(directory, what, "directory");
  expectGiven(token, what, "token");
  const isPath = typeof directory === "string";
  expect(isPath, ResultCode.BAD_DATA, () => `${what}: directory is ${describe(directory)}, not a path`);
  const needed = BYTE_SIZE_OF_CACHE_TOKEN;
  const isToken = token instanceof Uint8Array;
  expect(isToken, ResultCode.BAD_DATA, () => `${what}: token is ${describe(token)}, not a Uint8Array of ${needed}`);
  const { length } = token;
  expect(length === needed, ResultCode.BAD_DATA, () => `${what}: the token has ${length} bytes, not ${needed}`);
  return { directory, token: token.slice() };
}

/**
 * Divides a model among devices and prepares the parts. Rejects with BAD_DATA if no device supports an operation, with DEAD_OBJECT if a
 * device is gone, and with the code of the status if a device fails.
 */
export async function prepareCompilation(
  model: HalModel,
  devices: readonly GuardedDevice[],
  options: CheckedDivideOptions & { readonly log: Logger; readonly now: () => bigint },
  { preference, priority, timeout, caching, hints }: CompilationSettings,
): Promise<Divided> {
  const deadline = makeDeadline(timeout, options.now());
  const prepareOptions = { preference, priority, ...(deadline !== undefined && { deadline }), ...(hints && { hints }) };
  let dead: GuardedDevice | undefined;
  const prepareParts: PrepareParts = (plan, device) => {
    const prepare = preparerOf(plan, device, caching, options.log);
    return async (part, partOptions) => {
      const result = await prepare(part, partOptions);
      const isGone = result.status === ErrorStatus.DEVICE_UNAVAILABLE && device.getStatus() === DeviceStatus.OFFLINE;
      if (isGone) dead ??= device;
      return result;
    };
  };
  const divided = await divideAndPrepare(model, devices, options, prepareOptions, prepareParts);
  if ("plan" in divided) return divided;
  if ("unplannable" in divided) throw unplannableError(divided);
  const { status, message = `status ${status}` } = divided;
  const code = dead === undefined ? convertErrorStatusToResultCode(status) : ResultCode.DEAD_OBJECT;
  throw new NeuralNetworksError(code, `finish: ${message}`);
}

function preparerOf(plan: Plan, device: GuardedDevice, caching: Caching | undefined, log: Logger): PrepareModel {
  if (caching === undefined) return (model, options) => device.prepareModel(model, options);
  let parts: ReadonlyMap<HalModel, readonly number[]> | undefined;
  return async (model, options) => {
    // A bundle for a browser, which has no files, does not load this.
    const { partsOf, prepareCached } = await ofCaches();
    parts ??= partsOf(plan);
    const part = parts.get(model);
    return part === undefined
      ? device.prepareModel(model, options)
      : prepareCached(device, model, options, { ...caching, part, log });
  };
}

function unplannableError({ unplannable, message, places }: Unplannable): NeuralNetworksError {
  return new NeuralNetworksError(ResultCode[unplannable], message, places);
}
