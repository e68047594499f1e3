/**
 * HAL 1.0 as it was. Structs that no later version redeclared are the canonical ones; this file states only the
 * differences.
 *
 * Rules for the interfaces of all versions:
 *
 * - A launch (a method that takes a callback) checks its arguments first. If one is not valid, the callback is
 *   called with the status and no payload before the method returns the same status. If the task cannot be started,
 *   both are GENERAL_FAILURE. Otherwise the method returns NONE, and the callback is called once the task has ended.
 * - A deadline that has passed is an outcome of the task: the launch returns NONE.
 * - A callback is called exactly once, by the method of the launch's own version. It may be called before the launch
 *   returns. A second call must be harmless. A callback that is null is refused with INVALID_ARGUMENT.
 * - Every method may answer DEVICE_UNAVAILABLE while the device is offline or busy, and GENERAL_FAILURE.
 * - No method throws. Methods of the HAL that block until something has been computed or copied answer with a promise.
 * - A method whose results are (status, x, …) returns an object with these names; `message` is not part of the HAL.
 * - The caller must not change models, requests or the content of their pools until the call or its task has ended.
 */
import type { PerformanceInfo } from "./capabilities.ts";
import {
  OperandLifeTime as CanonicalOperandLifeTime,
  type DeviceStatus,
  errorStatuses,
  fusedActivationFuncs,
} from "./enums.ts";
import type { Memory } from "./memory.ts";
import type { Model as CanonicalModel, Operand as CanonicalOperand, Operation } from "./model.ts";
import { operandTypes } from "./operand-type.ts";
import { operationTypes } from "./operation-type.ts";
import type { Awaitable, Outcome as CanonicalOutcome } from "./outcome.ts";
import type { Request as CanonicalRequest } from "./request.ts";
import { codesOf, tableAt } from "./table.ts";

export type { PerformanceInfo } from "./capabilities.ts";
export { DeviceStatus } from "./enums.ts";
export type { DataLocation, Operation } from "./model.ts";
export type { RequestArgument } from "./request.ts";

/** The operand types of HAL 1.0. */
export const OperandType = codesOf(tableAt(operandTypes, "1.0"));

/** The operations of HAL 1.0. */
export const OperationType = codesOf(tableAt(operationTypes, "1.0"));

export const FusedActivationFunc = codesOf(tableAt(fusedActivationFuncs, "1.0"));

const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, SUBGRAPH: _since13, ...sameLifeTimes } = CanonicalOperandLifeTime;

/** The lifetimes of HAL 1.0 – 1.2, under the names that they had. */
export const OperandLifeTime = {
  ...sameLifeTimes,
  MODEL_INPUT: SUBGRAPH_INPUT,
  MODEL_OUTPUT: SUBGRAPH_OUTPUT,
} as const;

/** The outcomes of HAL 1.0 – 1.2. */
export const ErrorStatus = codesOf(tableAt(errorStatuses, "1.0"));
export type ErrorStatus = (typeof ErrorStatus)[keyof typeof ErrorStatus];

/** The fields that every answer of HAL 1.0 – 1.2 has. */
export type Outcome = CanonicalOutcome<ErrorStatus>;

/** Performance of a device. Lower is better; the CPU's own performance is 1. */
export interface Capabilities {
  /** Of operations on float32 values. */
  readonly float32Performance: PerformanceInfo;
  /** Of operations on all other values. */
  readonly quantized8Performance: PerformanceInfo;
}

/** An operand without extraParams. A tensor has at least one dimension; the type is one of HAL 1.0. */
export type Operand = Omit<CanonicalOperand, "extraParams">;

/** A model of one graph. */
export interface Model extends Pick<CanonicalModel, "operandValues" | "pools"> {
  readonly operands: readonly Operand[];
  /** In an order in which they can be executed. */
  readonly operations: readonly Operation[];
  /** Indexes of the operands of lifetime MODEL_INPUT, each once, in the caller's order. */
  readonly inputIndexes: readonly number[];
  /** Indexes of the operands of lifetime MODEL_OUTPUT, each once, in the caller's order. */
  readonly outputIndexes: readonly number[];
}

/** Arguments of one execution. Model and request together know all dimensions of inputs and outputs. */
export interface Request extends Pick<CanonicalRequest, "inputs" | "outputs"> {
  readonly pools: readonly Memory[];
}

/** A device. */
export interface IDevice {
  /** The same at every call, and across restarts. */
  getCapabilities(): Outcome & { readonly capabilities: Capabilities };
  /**
   * For each operation of the model whether the device can execute it; several calls at once are allowed.
   * INVALID_ARGUMENT: the model is not valid; the list is empty, as for every status except NONE.
   */
  getSupportedOperations(model: Model): Awaitable<Outcome & { readonly supportedOperations: readonly boolean[] }>;
  /**
   * Launches the preparation of a model, which stays as it is. INVALID_ARGUMENT: the model is not valid. The prepared
   * model comes by `callback.notify`.
   */
  prepareModel(model: Model, callback: IPreparedModelCallback | null): Outcome;
  getStatus(): DeviceStatus;
}

/** A model ready to run. Several executions, with different shapes, may be under way at once. */
export interface IPreparedModel {
  /**
   * Launches an execution; its outcome comes by `callback.notify`. INVALID_ARGUMENT: the request is not valid for the
   * model. OUTPUT_INSUFFICIENT_SIZE: an output does not fit its buffer. Outputs are complete when the callback is called.
   */
  execute(request: Request, callback: IExecutionCallback | null): Outcome;
  /** Frees the model once no execution is under way. HIDL does this when the last reference to it is released. */
  close?(): void;
}

/** Receives the outcome of a preparation. */
export interface IPreparedModelCallback {
  /** Called once. `preparedModel` is null if and only if status is not NONE. */
  notify(status: ErrorStatus, preparedModel: IPreparedModel | null): void;
}

/** Receives the outcome of an execution. */
export interface IExecutionCallback {
  /** Called once. */
  notify(status: ErrorStatus): void;
}
