/**
 * The reusable executions of a guarded prepared model. Few applications use them: a bundle for a browser loads this when one does.
 */
import {
  closeSafely,
  failedExecution,
  failedFenced,
  failureOf,
  type Guard,
  readFencedResult,
  readReusable,
} from "@nnhal/driver-core/guard";
import {
  ErrorStatus,
  type ExecuteOptions,
  type ExecutionResult,
  type Outcome,
  type PreparedModel,
  type Request,
  type ReusableExecution,
  type ReusableResult,
} from "@nnhal/types";
import { boundExecution, type Watch, watchFenced } from "../bounds.ts";

/** The parts of a guard that its reusable executions share. */
export interface Guarding {
  readonly guard: Guard;
  /** Of the device. */
  readonly name: string;
  read(answer: unknown, request: Request): ExecutionResult;
  /** The prepared model to go on with if the service of `used` is gone: see `guardModel`. */
  another(
    used: PreparedModel,
    answer: { readonly status: ErrorStatus },
    request: Request,
  ): Promise<PreparedModel | undefined>;
}

/** Makes a reusable execution of the device's prepared model `first`. */
export async function guardReusable(
  first: PreparedModel,
  request: Request,
  options: ExecuteOptions | undefined,
  { guard, name, read, another }: Guarding,
): Promise<ReusableResult> {
  const create = (on: PreparedModel) =>
    guard.call<ReusableResult>(
      "createReusableExecution",
      async () => readReusable(await on.createReusableExecution?.(request, options)),
      (refusal) => ({ ...refusal, execution: null }),
    );
  const created = await create(first);
  if (created.execution === null) return created;
  let model = first;
  let own: ReusableExecution = created.execution;
  let isClosed = false;
  const answerFailure = (error: unknown) => failedExecution(failureOf(`${name}: execute`, error));
  /** Runs again on the prepared model that takes the place of one whose service is gone, if the answer was that it is gone. */
  const goOn = async <Answer extends Outcome>(
    answer: Answer,
    launch: (on: ReusableExecution) => Promise<Answer>,
    failed: (outcome: Outcome) => Answer,
  ): Promise<Answer> => {
    const next = await another(model, answer, request);
    if (next === undefined) return answer;
    const { execution: again, ...outcome } = await create(next);
    if (again === null) return failed(outcome);
    closeSafely(own);
    model = next;
    own = again;
    const result = await launch(again);
    // It was closed meanwhile.
    if (isClosed) closeSafely(again);
    return result;
  };
  const readRun = (answer: unknown, times: Parameters<ReusableExecution["execute"]>[0]) => {
    try {
      const result = read(answer, request);
      if (result.status !== ErrorStatus.DEVICE_UNAVAILABLE) return result;
      const launch = async (on: ReusableExecution) => read(await on.execute(times), request);
      return goOn(result, launch, failedExecution).catch(answerFailure);
    } catch (error) {
      return answerFailure(error);
    }
  };
  const readAnswer = (answer: unknown) => readRun(answer, undefined);
  const execution: ReusableExecution = {
    // Called for each run: functions that are made once, and without `async`, cost less.
    execute(times) {
      try {
        const running = own.execute(times);
        return times === undefined
          ? running.then(readAnswer, answerFailure)
          : running.then((answer) => readRun(answer, times), answerFailure);
      } catch (error) {
        return Promise.resolve(answerFailure(error));
      }
    },
    executeFenced(waitFor, times) {
      const launch = async (on: ReusableExecution) => readFencedResult(await on.executeFenced(waitFor, times), guard);
      const run = async () => goOn(await launch(own), launch, failedFenced);
      return guard.call("executeFenced", run, failedFenced);
    },
    close() {
      isClosed = true;
      closeSafely(own);
    },
  };
  return { status: ErrorStatus.NONE, execution };
}

/** A reusable execution whose runs end in time. */
export function watchReusable(result: ReusableResult, watch: Watch): ReusableResult {
  const { execution } = result;
  if (execution === null) return result;
  return {
    ...result,
    execution: {
      execute: (times) => boundExecution(execution.execute(times), times?.deadline, watch, (answer) => answer),
      executeFenced: (waitFor, times = {}) =>
        watchFenced(execution.executeFenced(waitFor, times), waitFor, times, watch),
      close: () => execution.close?.(),
    },
  };
}
