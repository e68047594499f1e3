/** Fenced executions of a small model, and their expected outcomes. */
import {
  ErrorStatus,
  type ExecutionInfo,
  type FencedExecuteOptions,
  type FencedResult,
  type IFencedExecutionCallback,
  type PreparedModel,
  type Request,
  type SyncFence,
} from "@nnhal/types";
import { type Bench, needMethod, prepare, smallModel } from "../bench.ts";
import { expectStatus, expectThat, expectUnmeasured, mismatch, statusName } from "../check.ts";
import { type Trial, trialFor } from "../execution.ts";
import { sampleValues } from "../small-models.ts";

/** executeFenced of a prepared small model. */
export interface Fenced {
  readonly preparedModel: PreparedModel;
  trial(salt?: number): Trial;
  execute(
    request: Request,
    waitFor?: readonly (SyncFence | null)[],
    options?: FencedExecuteOptions,
  ): Promise<FencedResult>;
}

/** Prepares a small model whose executions are fenced. */
export async function prepareFenced(bench: Bench, facts: Parameters<typeof smallModel>[1] = {}): Promise<Fenced> {
  await needMethod(bench, "executeFenced");
  const small = await smallModel(bench, facts);
  const preparedModel = await prepare(bench, small.model);
  const executeFenced = preparedModel.executeFenced?.bind(preparedModel);
  if (executeFenced === undefined)
    mismatch("this prepared model has no fenced executions, but others of the device have");
  return {
    preparedModel,
    trial: (salt = 0) => trialFor(small, [sampleValues(small.type, 6, salt)]),
    execute: (request, waitFor = [], options) => executeFenced(request, waitFor, options),
  };
}

/** A fenced execution that is under way. */
export interface UnderWay {
  /** Null: it has ended already. */
  readonly syncFence: SyncFence | null;
  readonly callback: IFencedExecutionCallback;
}

/** Ends the case if an execution is not under way. */
export function expectLaunched({ syncFence, callback, ...outcome }: FencedResult): UnderWay {
  expectStatus("executeFenced", outcome, ErrorStatus.NONE);
  return { syncFence, callback: callback ?? mismatch("executeFenced: NONE without a callback") };
}

/** Ends the case if an execution is not refused with one of some statuses, or if a fence or callback comes with the refusal. */
export function expectRefusedLaunch(what: string, result: FencedResult, ...allowed: readonly ErrorStatus[]): void {
  expectStatus(`executeFenced ${what}`, result, ...allowed);
  expectThat(result.syncFence === null, () => `executeFenced ${what}: a fence beside ${statusName(result.status)}`);
  expectThat(result.callback === null, () => `executeFenced ${what}: a callback beside ${statusName(result.status)}`);
}

/** Waits for an execution, and returns its callback's information. */
export async function endOf({ syncFence, callback }: UnderWay): Promise<ExecutionInfo> {
  const state = (await syncFence?.wait()) ?? "SIGNALED";
  const info = await callback.getExecutionInfo();
  const isDone = info.status === ErrorStatus.NONE;
  expectThat(isDone === (state === "SIGNALED"), () => {
    return `executeFenced: the fence is ${state}, but the callback says ${statusName(info.status)}`;
  });
  expectThat(syncFence === null || syncFence.state === state, () => {
    return `executeFenced: the fence was ${state} and is ${syncFence?.state}`;
  });
  if (!isDone)
    for (const timing of [info.timingLaunched, info.timingFenced]) expectUnmeasured("getExecutionInfo", timing);
  return info;
}

/** Waits for an execution that has to succeed. */
export async function expectDone(launched: FencedResult, trial?: Trial): Promise<ExecutionInfo> {
  const info = await endOf(expectLaunched(launched));
  expectStatus("getExecutionInfo", info, ErrorStatus.NONE);
  trial?.check("executeFenced");
  return info;
}
