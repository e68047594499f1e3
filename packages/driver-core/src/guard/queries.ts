/**
 * The queries of a device or driver: none throws, and their answers keep the rules of the HAL. If one breaks a rule, the answer is
 * GENERAL_FAILURE, and the message names the method and the rule.
 */
import {
  type Capabilities,
  DEVICE_TYPE_UNKNOWN,
  type Device,
  DeviceStatus,
  ErrorStatus,
  type Model,
  type Outcome,
  type SupportedOperations,
} from "@nnhal/types";
import { noPerformanceInfo } from "@nnhal/utils";
import {
  hasFields,
  readCacheFileCounts,
  readCapabilities,
  readDeviceStatus,
  readDeviceType,
  readExtensions,
  readOutcome,
  readSupport,
  readVersionString,
  type UncheckedFields,
} from "@nnhal/validation";
import { atOnce, attempt } from "./attempt.ts";
import { failedSupport } from "./failed.ts";

/** The queries that are answered at once. */
export type Queries = Pick<
  Device,
  | "getCapabilities"
  | "getType"
  | "getVersionString"
  | "getSupportedExtensions"
  | "getNumberOfCacheFilesNeeded"
  | "getStatus"
>;

/** The capabilities of a device that does not report them. */
export const noCapabilities: Capabilities = {
  relaxedFloat32toFloat16PerformanceScalar: noPerformanceInfo,
  relaxedFloat32toFloat16PerformanceTensor: noPerformanceInfo,
  operandPerformance: [],
  ifPerformance: noPerformanceInfo,
  whilePerformance: noPerformanceInfo,
};

/** Options for guarding queries. */
export interface QueryOptions {
  /** Begins messages, before the method. Default: nothing. */
  readonly prefix?: string;
  /** True if the type can be unknown: a driver older than HAL 1.2 has none. */
  readonly mayLackType: boolean;
  /** If true, the method is put before a message that the device reports. Default: false. */
  readonly namesMethod?: boolean;
}

/** See the file's head. */
export function guardQueries(own: Queries, { prefix = "", mayLackType, namesMethod = false }: QueryOptions): Queries {
  const query = <Value extends object>(
    method: Exclude<keyof Queries, "getStatus">,
    read: (answer: UncheckedFields) => Value,
    nothing: Value,
  ): Outcome & Value =>
    attempt<Outcome & Value>(
      `${prefix}${method}`,
      () => {
        const answer: unknown = atOnce(own[method]());
        const { status, message } = readOutcome(answer);
        if (status === ErrorStatus.NONE) return { status, ...read(hasFields(answer) ? answer : {}) };
        const reported = namesMethod ? `${method}: ${message ?? `status ${status}`}` : message;
        return { status, ...(reported !== undefined && { message: reported }), ...nothing };
      },
      (refusal) => ({ ...refusal, ...nothing }),
    );
  return {
    getCapabilities: () =>
      query("getCapabilities", ({ capabilities }) => ({ capabilities: readCapabilities(capabilities) }), {
        capabilities: noCapabilities,
      }),
    getType: () =>
      query("getType", ({ type }) => ({ type: readDeviceType(type, mayLackType) }), { type: DEVICE_TYPE_UNKNOWN }),
    getVersionString: () =>
      query("getVersionString", ({ version }) => ({ version: readVersionString(version) }), { version: "" }),
    getSupportedExtensions: () =>
      query("getSupportedExtensions", ({ extensions }) => ({ extensions: readExtensions(extensions) }), {
        extensions: [],
      }),
    getNumberOfCacheFilesNeeded: () =>
      query("getNumberOfCacheFilesNeeded", readCacheFileCounts, { numModelCache: 0, numDataCache: 0 }),
    getStatus: () =>
      attempt(
        "getStatus",
        () => readDeviceStatus(atOnce(own.getStatus())),
        () => DeviceStatus.UNKNOWN,
      ),
  };
}

/** The answer to `getSupportedOperations` for a model. Throws for one that breaks a rule. */
export function readSupportedOperations(answer: unknown, { main }: Model): SupportedOperations {
  const outcome = readOutcome(answer);
  if (!hasFields(answer) || outcome.status !== ErrorStatus.NONE) return failedSupport(outcome);
  return { ...outcome, ...readSupport(answer, main.operations.length) };
}
