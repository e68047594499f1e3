/**
 * The faces of a prepared model: canonical executions under the method names of each HAL version.
 */
import type {
  ExecuteOptions,
  ExecutionResult,
  FencedExecuteOptions,
  MeasureTiming,
  PreparedModel,
  V1_0,
  V1_2,
  V1_3,
} from "@nnhal/types";
import { deadlineOf, durationOf } from "@nnhal/utils";
import { refuseUnreadable } from "../guard/attempt.ts";
import { failedExecution, failedFenced } from "../guard/failed.ts";
import { failure, invalid, messageOf } from "../guard/refusal.ts";
import { type AnswerLimits, answerLimitsOf, type LogSink, withGrace } from "../guard/wait.ts";
import { launch } from "./callback.ts";
import type { AnyRequest } from "./convert/any.ts";
import { convertToV1_3 } from "./convert/v1-3.ts";
import { narrow, narrowOutcome, type PreparedSource, refuseRequest } from "./face-context.ts";
import { guardPreparedModel, modelAnswerReader, readExecution, refuseTimes } from "./guard-prepared-model.ts";

/** The shared part of a prepared model's faces. */
export interface PreparedModelFaceContext {
  readonly preparedModel: PreparedModel;
  /** Undefined if it came from a cache. */
  readonly source: PreparedSource | undefined;
  readonly log: LogSink;
  /** Default: those of `AnswerOptions`. */
  readonly limits?: AnswerLimits;
  /** Names the device in messages. */
  readonly name?: string;
}

/** Wraps the prepared model in a guard, with the members that the guard needs. */
export function guard({
  preparedModel,
  source,
  log,
  limits = answerLimitsOf({}, log),
  name = "the device",
}: PreparedModelFaceContext) {
  const waitUntil = (deadline: bigint | undefined) => withGrace(deadline, limits);
  const context = { name, mayOmitShapes: false, limits, waitUntil };
  const reader = modelAnswerReader(source?.model);
  return { context, reader, sound: guardPreparedModel(preparedModel, reader, context) };
}

const noCallback = invalid("the callback is null");

/** Executes and returns only fields that the HAL allows with the status. Throws if the device throws synchronously. */
export function execute(
  face: PreparedModelFaceContext,
  request: AnyRequest,
  options: ExecuteOptions,
): Promise<ExecutionResult> {
  const { preparedModel, log } = face;
  const canonical = convertToV1_3.request(request);
  const { context, reader } = guard(face);
  const expected = reader.expect(canonical);
  const answer = preparedModel.execute(canonical, options);
  return readExecution(async () => answer, reader, expected, options, context).then((result) => {
    if (result.message !== undefined) log(`execute: ${result.message}`);
    return result;
  });
}

/** Executes as a HAL method without a callback: a fault is the answer. Never rejects. */
async function executeNow(
  context: PreparedModelFaceContext,
  request: AnyRequest,
  version: "1.2" | "1.3",
  optionsOf: () => ExecuteOptions,
): Promise<ExecutionResult> {
  let options: ExecuteOptions = {};
  const refusal = refuseUnreadable(() => {
    options = optionsOf();
    return refuseTimes(options, "deadline", "loopTimeoutDuration") ?? refuseRequest(request, version, context.source);
  });
  if (refusal !== undefined) return failedExecution(refusal);
  try {
    return await execute(context, request, options);
  } catch (error) {
    return failedExecution(failure(`the execution failed: ${messageOf(error)}`));
  }
}

/** The options that HAL 1.3 adds to an execution. */
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
          answerFailure: failedExecution,
          notify: ({ status }) => callback.notify(narrow(status)),
        },
        context.log,
      );
      return narrowOutcome(outcome);
    },
    close: () => guard(context).sound.close(),
  };
}

export function preparedModelV1_2(face: PreparedModelFaceContext): V1_2.IPreparedModel {
  const { source, log } = face;
  return {
    ...preparedModelV1_0(face),
    execute_1_2(request, measure, callback) {
      if (!callback) return narrowOutcome(noCallback);
      const outcome = launch(
        {
          check: () => refuseRequest(request, "1.2", source),
          run: () => execute(face, request, { measure }),
          answerFailure: failedExecution,
          notify: ({ status, outputShapes, timing }) => callback.notify_1_2(narrow(status), outputShapes, timing),
        },
        log,
      );
      return narrowOutcome(outcome);
    },
    async executeSynchronously(request, measure) {
      const { outputShapes, timing, ...outcome } = await executeNow(face, request, "1.2", () => ({ measure }));
      return { ...narrowOutcome(outcome), outputShapes, timing };
    },
    async configureExecutionBurst(callback, requestChannel, resultChannel) {
      if (!callback) return { ...narrowOutcome(noCallback), context: null };
      const { sound } = guard(face);
      if (sound.configureExecutionBurst === undefined) {
        return { ...narrowOutcome(failure("configureExecutionBurst: the device has no bursts")), context: null };
      }
      const { context, ...outcome } = await sound.configureExecutionBurst(callback, requestChannel, resultChannel);
      return { ...narrowOutcome(outcome), context };
    },
  };
}

export function preparedModelV1_3(context: PreparedModelFaceContext): V1_3.IPreparedModel {
  const { source, log } = context;
  return {
    ...preparedModelV1_2(context),
    execute_1_3(request, measure, deadline, loopTimeoutDuration, callback) {
      if (!callback) return noCallback;
      let options: ExecuteOptions = {};
      return launch(
        {
          check() {
            options = optionsV1_3(measure, deadline, loopTimeoutDuration);
            return refuseTimes(options, "deadline", "loopTimeoutDuration") ?? refuseRequest(request, "1.3", source);
          },
          run: () => execute(context, request, options),
          answerFailure: failedExecution,
          notify: ({ status, outputShapes, timing }) => callback.notify_1_3(status, outputShapes, timing),
        },
        log,
      );
    },
    executeSynchronously_1_3: (request, measure, deadline, loopTimeoutDuration) =>
      executeNow(context, request, "1.3", () => optionsV1_3(measure, deadline, loopTimeoutDuration)),
    async executeFenced(request, waitFor, measure, deadline, loopTimeoutDuration, duration) {
      const { sound } = guard(context);
      if (sound.executeFenced === undefined) {
        return failedFenced(failure("executeFenced: the device has no fences"));
      }
      let options: FencedExecuteOptions = {};
      const refusal = refuseUnreadable(() => {
        const afterFences = durationOf(duration);
        options = {
          ...optionsV1_3(measure, deadline, loopTimeoutDuration),
          ...(afterFences !== undefined && { duration: afterFences }),
        };
        return undefined;
      });
      return refusal === undefined ? sound.executeFenced(request, waitFor, options) : failedFenced(refusal);
    },
  };
}
