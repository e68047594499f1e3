/**
 * HAL 1.2: 1.1, with 57 more operations and eight more operand types, shapes that only an execution finds, synchronous
 * executions, durations, bursts, compilation caching and vendor extensions.
 */
import type { IBurstContext as CanonicalBurstContext, FmqDescriptor, IBurstCallback } from "./burst.ts";
import type { Handle } from "./cache.ts";
import type { Capabilities as CanonicalCapabilities, Extension } from "./capabilities.ts";
import { BYTE_SIZE_OF_CACHE_TOKEN, MAX_NUMBER_OF_CACHE_FILES } from "./constants.ts";
import type { DeviceType, ExecutionPreference, MeasureTiming } from "./enums.ts";
import type { Model as CanonicalModel, Operand } from "./model.ts";
import { OperandTypeRange as CanonicalOperandTypeRange, operandTypes } from "./operand-type.ts";
import { OperationTypeRange as CanonicalOperationTypeRange, operationTypes } from "./operation-type.ts";
import type { Awaitable } from "./outcome.ts";
import type { OutputShape, Timing } from "./request.ts";
import { codesOf, tableAt } from "./table.ts";
import type * as V1_0 from "./v1-0.ts";
import type * as V1_1 from "./v1-1.ts";

export type {
  FmqDescriptor,
  FmqRequestDatum,
  FmqResultDatum,
  IBurstCallback,
} from "./burst.ts";
export type { Handle } from "./cache.ts";
export type { Extension, ExtensionOperandTypeInformation, OperandPerformance } from "./capabilities.ts";
export { ExtensionTypeEncoding } from "./constants.ts";
export { DeviceType, MeasureTiming } from "./enums.ts";
export type {
  ExtensionNameAndPrefix,
  /** The type is one of HAL 1.2 or an extension's, the lifetime one of `V1_0.OperandLifeTime`. */
  Operand,
  OperandExtraParams,
  SymmPerChannelQuantParams,
} from "./model.ts";
export type { OutputShape, Timing } from "./request.ts";
export * from "./v1-1.ts";

/** The operand types of HAL 1.2. */
export const OperandType = codesOf(tableAt(operandTypes, "1.2"));

/** The operations of HAL 1.2. */
export const OperationType = codesOf(tableAt(operationTypes, "1.2"));

/** Bounds of the ranges of operand type codes. */
export const OperandTypeRange = {
  ...CanonicalOperandTypeRange,
  FUNDAMENTAL_MAX: CanonicalOperandTypeRange.FUNDAMENTAL_MAX["1.2"],
} as const;

/** Bounds of the ranges of operation codes. */
export const OperationTypeRange = {
  ...CanonicalOperationTypeRange,
  FUNDAMENTAL_MAX: CanonicalOperationTypeRange.FUNDAMENTAL_MAX["1.2"],
} as const;

export const Constant = { BYTE_SIZE_OF_CACHE_TOKEN, MAX_NUMBER_OF_CACHE_FILES } as const;

/** Performance of a device. Types are those of HAL 1.2. */
export type Capabilities = Omit<CanonicalCapabilities, "ifPerformance" | "whilePerformance">;

/** A model of one graph. Tensors may be of unknown rank. */
export interface Model extends Omit<V1_1.Model, "operands">, Pick<CanonicalModel, "extensionNameToPrefix"> {
  readonly operands: readonly Operand[];
}

/** The service's side of a burst. Requests come only through the queues. */
export type IBurstContext = Omit<CanonicalBurstContext, "execute" | "ended">;

/** A device. */
export interface IDevice extends V1_1.IDevice {
  /** Not empty; changes whenever the driver changes. */
  getVersionString(): V1_0.Outcome & { readonly version: string };
  getType(): V1_0.Outcome & { readonly type: DeviceType };
  /** As `getCapabilities`. */
  getCapabilities_1_2(): V1_0.Outcome & { readonly capabilities: Capabilities };
  getSupportedExtensions(): V1_0.Outcome & { readonly extensions: readonly Extension[] };
  /** As `getSupportedOperations`. */
  getSupportedOperations_1_2(
    model: Model,
  ): Awaitable<V1_0.Outcome & { readonly supportedOperations: readonly boolean[] }>;
  /** Files needed to keep a prepared model; 0 and 0: it cannot be kept. Each at most `MAX_NUMBER_OF_CACHE_FILES`. */
  getNumberOfCacheFilesNeeded(): V1_0.Outcome & { readonly numModelCache: number; readonly numDataCache: number };
  /**
   * As `prepareModel_1_1`, by `callback.notify_1_2`; keeps the prepared model in the files, if it can. If the files or
   * the token cannot be used, the preparation goes on without them. See `CompilationCache`.
   */
  prepareModel_1_2(
    model: Model,
    preference: ExecutionPreference,
    modelCache: readonly Handle[],
    dataCache: readonly Handle[],
    token: Uint8Array,
    callback: IPreparedModelCallback | null,
  ): V1_0.Outcome;
  /**
   * Launches the preparation of the model that the files hold, by `callback.notify_1_2`. GENERAL_FAILURE: the device
   * has no compilation caching, or the files are not what it wrote for this token. INVALID_ARGUMENT: wrong numbers of files,
   * wrong handles.
   */
  prepareModelFromCache(
    modelCache: readonly Handle[],
    dataCache: readonly Handle[],
    token: Uint8Array,
    callback: IPreparedModelCallback | null,
  ): V1_0.Outcome;
}

/** A model ready to run. All ways to execute it may be under way at once. */
export interface IPreparedModel extends V1_0.IPreparedModel {
  /** As `execute`, by `callback.notify_1_2`. A duration runs from this call to that of the callback. */
  execute_1_2(request: V1_0.Request, measure: MeasureTiming, callback: IExecutionCallback | null): V1_0.Outcome;
  /**
   * Executes a request; the statuses of `execute`. `outputShapes`: one for each output if status is NONE or
   * OUTPUT_INSUFFICIENT_SIZE, else empty. `timing`: unknown unless `measure` is YES and status is NONE.
   */
  executeSynchronously(request: V1_0.Request, measure: MeasureTiming): Promise<V1_0.Outcome & ExecutionOutcome>;
  /**
   * Starts a burst: the service reads requests from one queue and writes results to the other until the context is
   * released. INVALID_ARGUMENT: the callback is null, or a queue cannot be used. `context` is null if and only if status
   * is not NONE.
   */
  configureExecutionBurst(
    callback: IBurstCallback | null,
    requestChannel: FmqDescriptor<"FmqRequestDatum">,
    resultChannel: FmqDescriptor<"FmqResultDatum">,
  ): Promise<V1_0.Outcome & { readonly context: IBurstContext | null }>;
}

/** The results of an execution beside its status. */
export interface ExecutionOutcome {
  readonly outputShapes: readonly OutputShape[];
  readonly timing: Timing;
}

/** Receives the outcome of a preparation. */
export interface IPreparedModelCallback extends V1_0.IPreparedModelCallback {
  /** As `notify`. */
  notify_1_2(status: V1_0.ErrorStatus, preparedModel: IPreparedModel | null): void;
}

/** Receives the outcome of an execution. */
export interface IExecutionCallback extends V1_0.IExecutionCallback {
  /** Called once; the results are those of `executeSynchronously`. */
  notify_1_2(status: V1_0.ErrorStatus, outputShapes: readonly OutputShape[], timing: Timing): void;
}
