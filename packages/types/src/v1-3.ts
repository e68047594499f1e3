/**
 * HAL 1.3: 1.2, with seven more operations, signed quantised tensors, control flow, deadlines, priorities, fences and
 * memory of the device's own. Its structs are the canonical ones.
 */
import type { BufferDesc, BufferRole } from "./buffer.ts";
import type { Handle } from "./cache.ts";
import type { Capabilities } from "./capabilities.ts";
import type { AllocateResult, FencedResult } from "./device.ts";
import type { ErrorStatus, ExecutionPreference, MeasureTiming, Priority } from "./enums.ts";
import type { SyncFence } from "./fence.ts";
import type { Model } from "./model.ts";
import { OperandTypeRange as CanonicalOperandTypeRange } from "./operand-type.ts";
import { OperationTypeRange as CanonicalOperationTypeRange, operationTypes } from "./operation-type.ts";
import type { Awaitable, Outcome } from "./outcome.ts";
import type { OutputShape, Request, Timing } from "./request.ts";
import { codesOf, tableAt } from "./table.ts";
import type { OptionalTimeoutDuration, OptionalTimePoint } from "./time.ts";
import type * as V1_2 from "./v1-2.ts";

export type { BufferDesc, BufferRole, IBuffer } from "./buffer.ts";
export type { Capabilities } from "./capabilities.ts";
export { LoopTimeoutDurationNs } from "./constants.ts";
export { ErrorStatus, OperandLifeTime, Priority } from "./enums.ts";
export type { ExecutionInfo, FenceState, IFencedExecutionCallback, SyncFence } from "./fence.ts";
export type { RequestMemoryPool } from "./memory.ts";
export type { Model, Operand, Subgraph } from "./model.ts";
export { OperandType } from "./operand-type.ts";
export type { Outcome } from "./outcome.ts";
export type { Request } from "./request.ts";
export type { OptionalTimeoutDuration, OptionalTimePoint } from "./time.ts";
export * from "./v1-2.ts";

/** Bounds of the ranges of operand type codes. */
export const OperandTypeRange = {
  ...CanonicalOperandTypeRange,
  FUNDAMENTAL_MAX: CanonicalOperandTypeRange.FUNDAMENTAL_MAX["1.3"],
} as const;

/** The operations of HAL 1.3. */
export const OperationType = codesOf(tableAt(operationTypes, "1.3"));

/** Bounds of the ranges of operation codes. */
export const OperationTypeRange = {
  ...CanonicalOperationTypeRange,
  FUNDAMENTAL_MAX: CanonicalOperationTypeRange.FUNDAMENTAL_MAX["1.3"],
} as const;

/** A device. Every method that takes a deadline may answer a missed one, and RESOURCE_EXHAUSTED. */
export interface IDevice extends V1_2.IDevice {
  /** As `getCapabilities`. */
  getCapabilities_1_3(): Outcome & { readonly capabilities: Capabilities };
  /**
   * As `getSupportedOperations`, of the main subgraph. An IF or WHILE is supported only if every operation of the
   * subgraphs that it reaches is.
   */
  getSupportedOperations_1_3(model: Model): Awaitable<Outcome & { readonly supportedOperations: readonly boolean[] }>;
  /**
   * As `prepareModel_1_2`, by `callback.notify_1_3`. `deadline`: when the model must be ready. INVALID_ARGUMENT also:
   * `priority` is not a Priority.
   */
  prepareModel_1_3(
    model: Model,
    preference: ExecutionPreference,
    priority: Priority,
    deadline: OptionalTimePoint,
    modelCache: readonly Handle[],
    dataCache: readonly Handle[],
    token: Uint8Array,
    callback: IPreparedModelCallback | null,
  ): Outcome;
  /** As `prepareModelFromCache`, by `callback.notify_1_3`. */
  prepareModelFromCache_1_3(
    deadline: OptionalTimePoint,
    modelCache: readonly Handle[],
    dataCache: readonly Handle[],
    token: Uint8Array,
    callback: IPreparedModelCallback | null,
  ): Outcome;
  /**
   * Allocates a buffer for inputs and outputs of prepared models of this device. INVALID_ARGUMENT: no models, no roles, a
   * role twice, a model that is null or not this device's, operands that do not agree. GENERAL_FAILURE: the device
   * cannot hold such a buffer. If status is not NONE, `buffer` is null and `token` is 0.
   */
  allocate(
    desc: BufferDesc,
    preparedModels: readonly (IPreparedModel | null)[],
    inputRoles: readonly BufferRole[],
    outputRoles: readonly BufferRole[],
  ): Promise<AllocateResult>;
}

/** A model ready to run. */
export interface IPreparedModel extends V1_2.IPreparedModel {
  /**
   * As `execute_1_2`, by `callback.notify_1_3`; checks the use of buffers too. `loopTimeoutDuration`: maximum duration
   * of one WHILE; none: `LoopTimeoutDurationNs.DEFAULT`; at most its MAXIMUM.
   */
  execute_1_3(
    request: Request,
    measure: MeasureTiming,
    deadline: OptionalTimePoint,
    loopTimeoutDuration: OptionalTimeoutDuration,
    callback: IExecutionCallback | null,
  ): Outcome;
  /** As `execute_1_3`, with the results of `executeSynchronously`. */
  executeSynchronously_1_3(
    request: Request,
    measure: MeasureTiming,
    deadline: OptionalTimePoint,
    loopTimeoutDuration: OptionalTimeoutDuration,
  ): Promise<Outcome & V1_2.ExecutionOutcome>;
  /**
   * Starts an execution that begins once all fences are signalled, and answers when it is under way. All dimensions
   * of the outputs must be known. `duration`: maximum duration of the execution from then on; the earlier of it and
   * `deadline` counts. INVALID_ARGUMENT: also for a fence that is null or in state ERROR; then there is neither
   * fence nor callback. A later failure puts the returned fence in state ERROR. The fence may be null if the
   * execution has already ended.
   */
  executeFenced(
    request: Request,
    waitFor: readonly (SyncFence | null)[],
    measure: MeasureTiming,
    deadline: OptionalTimePoint,
    loopTimeoutDuration: OptionalTimeoutDuration,
    duration: OptionalTimeoutDuration,
  ): Promise<FencedResult>;
}

/** Receives the outcome of a preparation. */
export interface IPreparedModelCallback extends V1_2.IPreparedModelCallback {
  /** As `notify`. */
  notify_1_3(status: ErrorStatus, preparedModel: IPreparedModel | null): void;
}

/** Receives the outcome of an execution. */
export interface IExecutionCallback extends V1_2.IExecutionCallback {
  /** As `notify_1_2`. */
  notify_1_3(status: ErrorStatus, outputShapes: readonly OutputShape[], timing: Timing): void;
}
