/**
 * Executions as HAL methods launch them, and those that answer by themselves: each method of each version.
 */

import { convertToV1_0, convertToV1_2 } from "@nnhal/driver-core/versions";
import {
  type ExecuteOptions,
  type ExecutionResult,
  type HalVersion,
  MeasureTiming,
  type Outcome,
  type OutputShape,
  type Request,
  type ErrorStatus as Status,
  type Timing,
  type V1_0,
  type V1_2,
  type V1_3,
} from "@nnhal/types";
import { makeTimeoutDuration, makeTimePoint, notMeasured } from "@nnhal/utils";
import { mismatch } from "./check.ts";
import type { Call, Launched } from "./prepare-launches.ts";

/** A call of an execution's callback. */
export interface ExecuteCall extends Call {
  readonly outputShapes: readonly OutputShape[];
  readonly timing: Timing;
}

type Callback = V1_3.IExecutionCallback | null;

/** A method that launches an execution. */
export interface ExecuteMethod {
  readonly name: string;
  readonly since: HalVersion;
  /** The method of the callback that it has to call. */
  readonly notify: Call["by"];
  call(preparedModel: V1_0.IPreparedModel, request: Request, callback: Callback, options?: ExecuteOptions): Outcome;
}

function v1_2Of(preparedModel: V1_0.IPreparedModel): V1_2.IPreparedModel {
  return isV1_2(preparedModel) ? preparedModel : mismatch("the prepared model is none of HAL 1.2");
}

function isV1_2(preparedModel: V1_0.IPreparedModel): preparedModel is V1_2.IPreparedModel {
  return "execute_1_2" in preparedModel;
}

function v1_3Of(preparedModel: V1_0.IPreparedModel): V1_3.IPreparedModel {
  return isV1_3(preparedModel) ? preparedModel : mismatch("the prepared model is none of HAL 1.3");
}

function isV1_3(preparedModel: V1_0.IPreparedModel): preparedModel is V1_3.IPreparedModel {
  return "execute_1_3" in preparedModel;
}

const { NO } = MeasureTiming;

/** The methods of all versions. */
export const executeMethods: readonly ExecuteMethod[] = [
  {
    name: "execute",
    since: "1.0",
    notify: "notify",
    call: (preparedModel, request, callback) => preparedModel.execute(convertToV1_0.request(request).value, callback),
  },
  {
    name: "execute_1_2",
    since: "1.2",
    notify: "notify_1_2",
    call: (preparedModel, request, callback, { measure = NO } = {}) =>
      v1_2Of(preparedModel).execute_1_2(convertToV1_2.request(request).value, measure, callback),
  },
  {
    name: "execute_1_3",
    since: "1.3",
    notify: "notify_1_3",
    call: (preparedModel, request, callback, { measure = NO, deadline, loopTimeoutDuration } = {}) =>
      v1_3Of(preparedModel).execute_1_3(
        request,
        measure,
        makeTimePoint(deadline),
        makeTimeoutDuration(loopTimeoutDuration),
        callback,
      ),
  },
];

/** A method that executes and answers. */
export interface SynchronousMethod {
  readonly name: string;
  readonly since: HalVersion;
  call(preparedModel: V1_0.IPreparedModel, request: Request, options?: ExecuteOptions): Promise<ExecutionResult>;
}

/** The methods of all versions. */
export const synchronousMethods: readonly SynchronousMethod[] = [
  {
    name: "executeSynchronously",
    since: "1.2",
    call: (preparedModel, request, { measure = NO } = {}) =>
      v1_2Of(preparedModel).executeSynchronously(convertToV1_2.request(request).value, measure),
  },
  {
    name: "executeSynchronously_1_3",
    since: "1.3",
    call: (preparedModel, request, { measure = NO, deadline, loopTimeoutDuration } = {}) =>
      v1_3Of(preparedModel).executeSynchronously_1_3(
        request,
        measure,
        makeTimePoint(deadline),
        makeTimeoutDuration(loopTimeoutDuration),
      ),
  },
];

/** Launches an execution. */
export function launchExecute(
  method: ExecuteMethod,
  preparedModel: V1_0.IPreparedModel,
  request: Request,
  options?: ExecuteOptions,
): Launched<ExecuteCall> {
  const calls: ExecuteCall[] = [];
  const hear =
    (by: Call["by"]) =>
    (status: Status, outputShapes: readonly OutputShape[] = [], timing: Timing = notMeasured) => {
      calls.push({ by, status, outputShapes, timing });
    };
  const callback = { notify: hear("notify"), notify_1_2: hear("notify_1_2"), notify_1_3: hear("notify_1_3") };
  return { outcome: method.call(preparedModel, request, callback, options), calls };
}
