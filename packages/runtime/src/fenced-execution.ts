/**
 * Executions that depend on others: the device waits for the fences if it can, else the runtime does.
 */
import {
  ErrorStatus,
  type ExecutionInfo,
  type FencedExecuteOptions,
  type FencedResult,
  type Outcome,
  type OutputShape,
  type Request,
  type SyncFence,
  type Timing,
} from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import type { ExecutionTarget } from "./compiled-model.ts";
import { executeAfter } from "./plan/fenced.ts";
import { isRecoverable } from "./plan/recoverable.ts";
import type { Abandoned } from "./watch.ts";

/** The result of an execution, fenced or not. */
export interface Conclusion extends Outcome, Abandoned {
  readonly outputShapes: readonly OutputShape[];
  /** From the start. */
  readonly launched: Timing;
  /** From the end of its dependencies. */
  readonly fenced: Timing;
}

/**
 * Launches an execution behind fences. If the device refuses it, it is executed without fences once they are signalled, and
 * can then fall back to the CPU.
 */
export async function launchFenced(
  { whole, preparedModel, canFallBack }: ExecutionTarget,
  request: Request,
  fences: readonly SyncFence[],
  options: FencedExecuteOptions,
  now: () => bigint,
): Promise<FencedResult> {
  const ordinarily = () => executeAfter(fences, options, now, (timed) => preparedModel.execute(request, timed)).answer;
  const model = whole ?? preparedModel;
  if (model.executeFenced === undefined) return ordinarily();
  const result = await model.executeFenced(request, fences, options);
  return canFallBack && isRecoverable(result.status) ? ordinarily() : result;
}

/** Waits until an execution that was launched has ended. Never rejects. */
export async function concludeFenced(
  { syncFence, callback }: FencedResult,
  shapes: readonly OutputShape[],
): Promise<Conclusion> {
  const state = syncFence === null ? "SIGNALED" : await syncFence.wait();
  const failure = state === "SIGNALED" ? undefined : `the execution's fence ended in state ${state}`;
  const info = await callback?.getExecutionInfo();
  return info === undefined
    ? failWith("there is no callback to tell how it ended")
    : conclusionOf(info, failure, shapes);
}

function conclusionOf(
  { status, message, timingLaunched, timingFenced, abandoned }: ExecutionInfo & Abandoned,
  failure: string | undefined,
  outputShapes: readonly OutputShape[],
): Conclusion {
  if (failure !== undefined && status === ErrorStatus.NONE) return failWith(failure);
  const text = message ?? failure;
  const outcome = { status, ...(text !== undefined && status !== ErrorStatus.NONE && { message: text }) };
  return {
    ...outcome,
    outputShapes: status === ErrorStatus.NONE ? outputShapes : [],
    launched: timingLaunched,
    fenced: timingFenced,
    ...(abandoned && { abandoned }),
  };
}

function failWith(message: string): Conclusion {
  const nothing = { outputShapes: [], launched: notMeasured, fenced: notMeasured };
  return { status: ErrorStatus.GENERAL_FAILURE, message, ...nothing };
}
