/**
 * HAL 1.0 as it was. Structs that later versions left alone are the canonical ones; the others differ from them by what
 * is stated here.
 *
 * Rules for all interfaces, of all versions:
 *
 * - A launch (a method that takes a callback) checks its arguments first. Where something is wrong, the callback is
 *   called with the status and no payload before the method returns the same status. Where the task cannot be started,
 *   both are GENERAL_FAILURE. Else the method returns NONE, and the callback is called once the task has ended.
 * - A callback is called exactly once, by the method that belongs to the version of the launch. It may be called before
 *   the launch returns. A second call must do no harm. A callback that is null cannot be told: INVALID_ARGUMENT.
 * - Every method may answer DEVICE_UNAVAILABLE while the device is offline or busy, and GENERAL_FAILURE.
 * - No method throws. Methods of the HAL that block until something has been computed or copied answer with a promise.
 * - A method whose results are (status, x, …) answers an object of these names. `message` is no part of the HAL.
 */
import type { PerformanceInfo } from "./capabilities.ts";
import type { Outcome as CanonicalOutcome } from "./device.ts";
import {
  type DeviceStatus,
  errorStatuses,
  fusedActivationFuncs,
  OperandLifeTime as CanonicalOperandLifeTime,
} from "./enums.ts";
import type { Memory } from "./memory.ts";
import type {
  Model as CanonicalModel,
  Operand as CanonicalOperand,
  Request as CanonicalRequest,
  Subgraph,
} from "./index.ts";
import { operandTypes } from "./operand-type.ts";
import { operationTypes } from "./operation-type.ts";
import { codesOf, tableAt } from "./table.ts";

export type { PerformanceInfo } from "./capabilities.ts";
export { DeviceStatus } from "./enums.ts";
export type { DataLocation, Operation } from "./model.ts";
export type { RequestArgument } from "./request.ts";
