/**
 * Guards for prepared models behind faces and lifts: no method throws, no promise rejects or stays pending for ever, and answers
 * keep the rules of the HAL.
 */
import { type ExtensionDefinition, factsIn, vocabularyOf } from "@nnhal/operations";
import {
  type BurstResult,
  type ExecuteOptions,
  type ExecutionResult,
  MeasureTiming,
  type Model,
  type Outcome,
  type PreparedModel,
} from "@nnhal/types";
import { type ExpectedOutput, hasFields, show } from "@nnhal/validation";
import { readBurstResult } from "../burst/read-burst-result.ts";
import { readFencedResult } from "../guard/answers.ts";
import { closeSafely, refuseUnreadable } from "../guard/attempt.ts";
import { type AnswerReader, answerReader } from "../guard/execution-answer.ts";
import { failedBurst, failedExecution, failedFenced } from "../guard/failed.ts";
import { timedGuard } from "../guard/guard.ts";
import { invalid } from "../guard/refusal.ts";
import type { AnswerLimits } from "../guard/wait.ts";

/** The parameters of a guard. */
export interface PreparedModelGuard {
  /** Begins messages. */
  readonly name: string;
  readonly limits: AnswerLimits;
  /** True if known shapes may be omitted with NONE. Drivers may omit them (HAL 1.2 notify_1_2), devices must not. */
  readonly mayOmitShapes: boolean;
  /** The end of the wait, if there is a deadline. */
  readonly waitUntil: (deadline: bigint | undefined) => bigint | undefined;
}

/** Returns why a request, which can be any value, has not the form of one. What is in its lists is not looked at. */
export function refuseShape(request: unknown): Outcome | undefined {
  if (!hasFields(request)) return invalid(`the request: expected an object, got ${show(request)}`);
  for (const name of ["inputs", "outputs", "pools"]) {
    const list: unknown = Reflect.get(request, name);
    if (!Array.isArray(list)) return invalid(`the request's ${name}: expected an array, got ${show(list)}`);
  }
  return undefined;
}

/** Reads answers to executions of a model. `extensions`: those whose types are known. Default: none. */
export function modelAnswerReader(
  model: Model | undefined,
  extensions?: readonly ExtensionDefinition[] | undefined,
): AnswerReader {
  return answerReader(model, factsIn(vocabularyOf(model?.extensionNameToPrefix ?? [], { extensions })));
}

/** See the file's head. The methods that `own` lacks are missing here too. */
export function guardPreparedModel(
  own: PreparedModel,
  reader: AnswerReader,
  context: PreparedModelGuard,
): PreparedModel {
  const { name, limits, waitUntil } = context;
  const guard = timedGuard(name, limits);
  const { executeFenced, configureExecutionBurst } = own;
  return {
    async execute(request, options = {}) {
      let expected: readonly ExpectedOutput[] = [];
      const refusal = refuseUnreadable(() => {
        const misshapen = refuseShape(request);
        if (misshapen !== undefined) return misshapen;
        expected = reader.expect(request);
        return refuseTimes(options, "deadline", "loopTimeoutDuration");
      });
      if (refusal !== undefined) return failedExecution(refusal);
      return readExecution(async () => own.execute(request, options), reader, expected, options, context);
    },
    ...(executeFenced &&
      ({
        async executeFenced(request, waitFor, options = {}) {
          const refusal = refuseUnreadable(
            () =>
              refuseShape(request) ??
              refuseFences(waitFor) ??
              refuseTimes(options, "deadline", "loopTimeoutDuration", "duration"),
          );
          if (refusal !== undefined) return failedFenced(refusal);
          return guard.call(
            "executeFenced",
            async () => readFencedResult(await executeFenced.call(own, request, waitFor, options), guard),
            failedFenced,
            { deadline: waitUntil(options.deadline) },
          );
        },
      } satisfies Partial<PreparedModel>)),
    ...(configureExecutionBurst &&
      ({
        configureExecutionBurst: (...channels) =>
          guard.call(
            "configureExecutionBurst",
            async () =>
              readBurstResult(await configureExecutionBurst.call(own, ...channels), guard, ({ message }) =>
                limits.log(message),
              ),
            failedBurst,
            { drop: ({ context: late }: BurstResult) => late?.close?.() },
          ),
      } satisfies Partial<PreparedModel>)),
    close: () => closeSafely(own, (message) => limits.log(`${name}: ${message}`)),
  };
}

/** Waits for an execution and reads its result. `expected`: from `reader.expect`. */
export function readExecution(
  call: () => Promise<unknown>,
  reader: AnswerReader,
  expected: readonly ExpectedOutput[],
  { measure = MeasureTiming.NO, deadline }: ExecuteOptions,
  { name, limits, waitUntil, mayOmitShapes }: PreparedModelGuard,
): Promise<ExecutionResult> {
  const read = async () => reader.read(await call(), expected, { mayOmitShapes, measure });
  return timedGuard(name, limits).call("execute", read, failedExecution, { deadline: waitUntil(deadline) });
}

/** Refuses what is not a list of fences. */
export function refuseFences(waitFor: unknown): Outcome | undefined {
  return Array.isArray(waitFor) ? undefined : invalid(`waitFor: expected an array, got ${show(waitFor)}`);
}

/** Refuses times that are not bigints and options that are not an object. Throws for options that cannot be read. */
export function refuseTimes<Key extends string>(
  options: { readonly [Name in Key]?: unknown },
  ...names: readonly Key[]
): Outcome | undefined {
  if (!hasFields(options)) {
    return invalid(`the options: expected an object, got ${show(options)}`);
  }
  for (const name of names) {
    const time: unknown = options[name];
    if (time === undefined || typeof time === "bigint") continue;
    return invalid(`the ${name}: expected a bigint of nanoseconds, got ${show(time)}`);
  }
  return undefined;
}
