/**
 * The faces of a prepared model: canonical executions under the method names of each HAL version.
 */
import {
  ErrorStatus,
  type ExecuteOptions,
  type ExecutionResult,
  MeasureTiming,
  type Outcome,
  type PreparedModel,
  type V1_0,
  type V1_2,
  type V1_3,
} from "@nnhal/types";
import { type AnyRequest, convertToV1_3, deadlineOf, durationOf, getExecutionResult, notMeasured } from "@nnhal/utils";
import { failure, type LogSink, launch, refusalOf } from "./callback.ts";
import { invalid, narrow, narrowOutcome, type PreparedSource, refuseRequest } from "./face-context.ts";

/** What the faces of one prepared model share. */
export interface PreparedModelFaceContext {
  readonly preparedModel: PreparedModel;
  /** Undefined: it came from a cache. */
  readonly source: PreparedSource | undefined;
  readonly log: LogSink;
}

const noCallback = invalid("the callback is null");

function failed(outcome: Outcome): ExecutionResult {
  return { ...outcome, outputShapes: [], timing: notMeasured };
}

/** Executes, and answers nothing that the HAL does not allow with the status. */
function execute(
  { preparedModel, log }: PreparedModelFaceContext,
  request: AnyRequest,
  options: ExecuteOptions,
): Promise<ExecutionResult> {
  return preparedModel.execute(convertToV1_3.request(request), options).then((result) => {
    const { message } = result;
    if (message !== undefined) log(`execute: ${message}`);
    const isMeasured = options.measure === MeasureTiming.YES;
    const answer = getExecutionResult(isMeasured ? result : { ...result, timing: notMeasured });
    return { ...answer, ...(message !== undefined && { message }) };
  });
}

/** As a HAL method that does not take a callback: what is wrong is the answer. Never rejects. */
async function executeNow(
  context: PreparedModelFaceContext,
  request: AnyRequest,
  version: "1.2" | "1.3",
  optionsOf: () => ExecuteOptions,
): Promise<ExecutionResult> {
  let options: ExecuteOptions = {};
  const refusal = refusalOf(() => {
    options = optionsOf();
    return refuseRequest(request, version, context.source);
  });
  if (refusal !== undefined) return failed(refusal);
  try {
    return await execute(context, request, options);
  } catch (error) {
    return failed(failure("the execution failed", error));
  }
}

/** What HAL 1.3 adds to what an execution is told. */
function optionsV1_3(
  measure: MeasureTiming,
  deadline: V1_3.OptionalTimePoint,
  loopTimeoutDuration: V1_3.OptionalTimeoutDuration,
): ExecuteOptions {
  const time = deadlineOf(deadline);
  const loopTimeout = durationOf(loopTimeoutDuration);
  return {
    measure,
    ...(time !== undefined && { deadline: time }),
    ...(loopTimeout !== undefined && { loopTimeoutDuration: loopTimeout }),
  };
}

export function preparedModelV1_0(context: PreparedModelFaceContext): V1_0.IPreparedModel {
  return {
    execute(request, callback) {
      if (!callback) return narrowOutcome(noCallback);
      const outcome = launch(
        {
          check: () => refuseRequest(request, "1.0", context.source),
          run: () => execute(context, request, {}),
          failed,
          notify: ({ status }) => callback.notify(narrow(status)),
        },
        context.log,
      );
      return narrowOutcome(outcome);
    },
    close: () => context.preparedModel.close(),
  };
}

export function preparedModelV1_2(context: PreparedModelFaceContext): V1_2.IPreparedModel {
  const { preparedModel, source, log } = context;
  return {
    ...preparedModelV1_0(context),
    execute_1_2(request, measure, callback) {
      if (!callback) return narrowOutcome(noCallback);
      const outcome = launch(
        {
          check: () => refuseRequest(request, "1.2", source),
          run: () => execute(context, request, { measure }),
          failed,
          notify: ({ status, outputShapes, timing }) => callback.notify_1_2(narrow(status), outputShapes, timing),
        },
        log,
      );
      return narrowOutcome(outcome);
    },
    async executeSynchronously(request, measure) {
      const { outputShapes, timing, ...outcome } = await executeNow(context, request, "1.2", () => ({ measure }));
      return { ...narrowOutcome(outcome), outputShapes, timing };
    },
    async configureExecutionBurst(callback, requestChannel, resultChannel) {
      if (!callback) return { ...narrowOutcome(noCallback), context: null };
      if (preparedModel.configureExecutionBurst === undefined) {
        return { ...narrowOutcome(failure("configureExecutionBurst", "the device has no bursts")), context: null };
      }
      try {
        const result = await preparedModel.configureExecutionBurst(callback, requestChannel, resultChannel);
        return { ...narrowOutcome(result), context: result.status === ErrorStatus.NONE ? result.context : null };
      } catch (error) {
        return { ...narrowOutcome(failure("configureExecutionBurst", error)), context: null };
      }
    },
  };
}

export function preparedModelV1_3(context: PreparedModelFaceContext): V1_3.IPreparedModel {
  const { preparedModel, source, log } = context;
  return {
    ...preparedModelV1_2(context),
    execute_1_3(request, measure, deadline, loopTimeoutDuration, callback) {
      if (!callback) return noCallback;
      let options: ExecuteOptions = {};
      return launch(
        {
          check() {
            options = optionsV1_3(measure, deadline, loopTimeoutDuration);
            return refuseRequest(request, "1.3", source);
          },
          run: () => execute(context, request, options),
          failed,
          notify: ({ status, outputShapes, timing }) => callback.notify_1_3(status, outputShapes, timing),
        },
        log,
      );
    },
    executeSynchronously_1_3: (request, measure, deadline, loopTimeoutDuration) =>
      executeNow(context, request, "1.3", () => optionsV1_3(measure, deadline, loopTimeoutDuration)),
    async executeFenced(request, waitFor, measure, deadline, loopTimeoutDuration, duration) {
      const nothing = { syncFence: null, callback: null };
      if (preparedModel.executeFenced === undefined) {
        return { ...failure("executeFenced", "the device has no fences"), ...nothing };
      }
      try {
        const afterFences = durationOf(duration);
        const result = await preparedModel.executeFenced(request, waitFor, {
          ...optionsV1_3(measure, deadline, loopTimeoutDuration),
          ...(afterFences !== undefined && { duration: afterFences }),
        });
        return result.status === ErrorStatus.NONE ? result : { ...result, ...nothing };
      } catch (error) {
        return { ...failure("executeFenced", error), ...nothing };
      }
    },
  };
}
