/**
 * Prepared models of drivers of any HAL version, as canonical ones. Executions are synchronous calls if the driver has
 * them, and launches with a callback otherwise.
 */
import {
  ErrorStatus,
  type ExecuteOptions,
  type ExecutionResult,
  MeasureTiming,
  type Model,
  type Outcome,
  type OutputShape,
  type PreparedModel,
  type Request,
  type Timing,
  type V1_0,
  type V1_2,
  type V1_3,
} from "@nnhal/types";
import {
  combineDimensions,
  hasDeadlinePassed,
  makeTimeoutDuration,
  makeTimePoint,
  notMeasured,
  tensorHasUnspecifiedDimensions,
} from "@nnhal/utils";
import { outputOperands } from "../guard/execution-answer.ts";
import { failedBurst, failedExecution, failedFenced } from "../guard/failed.ts";
import { failure, invalid } from "../guard/refusal.ts";
import type { LogSink } from "../guard/wait.ts";
import { launchTask } from "./callback.ts";
import { complianceWith, compliantWithV1_3 } from "./compliant-with.ts";
import { convertToV1_0 } from "./convert/v1-0.ts";
import { convertToV1_2 } from "./convert/v1-2.ts";
import { executeBehindFences } from "./fenced-fallback.ts";
import { guardPreparedModel, modelAnswerReader } from "./guard-prepared-model.ts";
import type { LiftContext } from "./lift-context.ts";
import { isV1_3Model } from "./old-driver.ts";

/** Returns true if a prepared model has the methods of HAL 1.2. */
function isV1_2Model(model: V1_0.IPreparedModel): model is V1_2.IPreparedModel {
  return "executeSynchronously" in model;
}

/** Makes a canonical prepared model of a driver's. `model`: its model; undefined if it came from a cache. */
export function liftPreparedModel(
  own: V1_0.IPreparedModel,
  model: Model | undefined,
  context: LiftContext,
): PreparedModel {
  const { name, driver, limits } = context;
  let closed = false;
  const closedOutcome = () => (closed ? invalid("the prepared model is closed") : undefined);
  const lifted: PreparedModel = {
    async execute(request, options = {}) {
      const refusal = closedOutcome() ?? refuseExecution(own, request, options, context);
      return refusal === undefined ? execute(own, model, request, options, context) : failedExecution(refusal);
    },
    async executeFenced(request, waitFor, options = {}) {
      const refusal = closedOutcome();
      if (refusal !== undefined) return failedFenced(refusal);
      if (!isV1_3Model(own)) return executeBehindFences(sound, model, request, waitFor, options, limits);
      const { measure = MeasureTiming.NO, deadline, loopTimeoutDuration, duration } = options;
      return own.executeFenced(
        request,
        waitFor,
        measure,
        makeTimePoint(deadline),
        makeTimeoutDuration(loopTimeoutDuration),
        makeTimeoutDuration(duration),
      );
    },
    async configureExecutionBurst(callback, requestChannel, resultChannel) {
      const refusal = closedOutcome();
      if (refusal !== undefined) return failedBurst(refusal);
      if (isV1_2Model(own)) return own.configureExecutionBurst(callback, requestChannel, resultChannel);
      const why = `${name} is of HAL ${driver.version}, which has no bursts`;
      return failedBurst(failure(`configureExecutionBurst: ${why}`));
    },
    close() {
      if (closed) return;
      closed = true;
      return own.close?.();
    },
  };
  const sound = guardPreparedModel(lifted, modelAnswerReader(model, context.extensions), {
    ...context,
    mayOmitShapes: true,
  });
  return sound;
}

/** Returns why an older driver cannot execute a request: its version lacks deadlines or a kind of pool. */
function refuseExecution(
  own: V1_0.IPreparedModel,
  request: Request,
  { deadline }: ExecuteOptions,
  { name, limits }: LiftContext,
): Outcome | undefined {
  if (isV1_3Model(own)) return undefined;
  const version = isV1_2Model(own) ? "1.2" : "1.0";
  if (!compliantWithV1_3.request(request)) {
    return invalid("a pool of the request is of a kind that no HAL version has");
  }
  if (!complianceWith(version).request(request)) {
    return failure(`execute: ${name} is of HAL ${version}, which lacks the kind of a pool of the request`);
  }
  if (!hasDeadlinePassed(deadline, limits.now())) return undefined;
  return { status: ErrorStatus.MISSED_DEADLINE_PERSISTENT, message: "the deadline had passed before the execution" };
}

function execute(
  own: V1_0.IPreparedModel,
  model: Model | undefined,
  request: Request,
  options: ExecuteOptions,
  context: LiftContext,
): Promise<ExecutionResult> {
  if (isV1_3Model(own)) return executeV1_3(own, request, options, context);
  if (isV1_2Model(own)) return executeV1_2(own, request, options, context);
  return executeV1_0(own, model, request, context);
}

function executeV1_3(
  own: V1_3.IPreparedModel,
  request: Request,
  { measure = MeasureTiming.NO, deadline, loopTimeoutDuration }: ExecuteOptions,
  { synchronous, log }: LiftContext,
): Promise<ExecutionResult> {
  const time = makeTimePoint(deadline);
  const loopTimeout = makeTimeoutDuration(loopTimeoutDuration);
  if (synchronous) return own.executeSynchronously_1_3(request, measure, time, loopTimeout);
  return launchExecution((callback) => own.execute_1_3(request, measure, time, loopTimeout, callback), log);
}

function executeV1_2(
  own: V1_2.IPreparedModel,
  request: Request,
  { measure = MeasureTiming.NO }: ExecuteOptions,
  { synchronous, log }: LiftContext,
): Promise<ExecutionResult> {
  const { value } = convertToV1_2.request(request, log);
  if (synchronous) return own.executeSynchronously(value, measure);
  return launchExecution((callback) => own.execute_1_2(value, measure, callback), log);
}

/** A driver older than HAL 1.2 answers without shapes; the model and the request supply them. */
async function executeV1_0(
  own: V1_0.IPreparedModel,
  model: Model | undefined,
  request: Request,
  { name, driver, log }: LiftContext,
): Promise<ExecutionResult> {
  const outputShapes = model === undefined ? undefined : knownShapes(model, request);
  if (outputShapes === undefined) {
    const why = "neither the model nor the request specifies all dimensions of the outputs";
    return failedExecution(failure(`${name} is of HAL ${driver.version}, which cannot compute shapes: ${why}`));
  }
  const { value } = convertToV1_0.request(request, log);
  const result = await launchExecution((callback) => own.execute(value, callback), log);
  return { ...result, outputShapes: result.status === ErrorStatus.NONE ? outputShapes : [], timing: notMeasured };
}

/** The shapes of a request's outputs; undefined if a dimension is not known. */
function knownShapes(model: Model, { outputs }: Request): OutputShape[] | undefined {
  const shapes: OutputShape[] = [];
  const operands = outputOperands(model);
  for (const [position, { dimensions: given }] of outputs.entries()) {
    const operand = operands[position];
    // The driver refuses an output that the model does not have, or that has other dimensions.
    if (operand === undefined) continue;
    const dimensions = combineDimensions(operand.dimensions, given) ?? given;
    if (tensorHasUnspecifiedDimensions(operand.type, dimensions)) return undefined;
    shapes.push({ dimensions, isSufficient: true });
  }
  return shapes;
}

/** Launches an execution and waits for any method of its callback. */
function launchExecution(
  launch: (callback: V1_3.IExecutionCallback) => Outcome,
  log: LogSink,
): Promise<ExecutionResult> {
  return launchTask<ExecutionResult>(
    (settle) => {
      const notify = (status: ErrorStatus, outputShapes: readonly OutputShape[] = [], timing: Timing = notMeasured) =>
        settle({ status, outputShapes, timing });
      return launch({ notify, notify_1_2: notify, notify_1_3: notify });
    },
    failedExecution,
    log,
  );
}
