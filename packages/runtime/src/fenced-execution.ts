/**
 * Executions that depend on others: the device waits for the fences if it can, else the runtime does.
 */
import { isUnspecified } from "@nnhal/operations";
import {
  ErrorStatus,
  type ExecutionInfo,
  type FencedExecuteOptions,
  type FencedResult,
  type OutputShape,
  type Request,
  type SyncFence,
} from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import type { Abandoned } from "./bounds.ts";
import type { ExecutionTarget } from "./compiled-model.ts";
import type { Conclusion } from "./conclusion.ts";
import { Event } from "./event.ts";
import { type ExecutionRun, throwUnlessDone } from "./execution-run.ts";
import { fail } from "./model-slots.ts";
import { executeAfter } from "./plan/fenced.ts";
import { isRecoverable } from "./plan/recoverable.ts";

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

/**
 * Starts an execution behind events, of objects of that class. `duration`: maximum nanoseconds from the end of the dependencies. See
 * `Execution.startComputeWithDependencies`.
 */
export async function startFenced(
  run: ExecutionRun,
  dependencies: readonly Event[],
  duration: bigint | undefined,
  what: string,
): Promise<Event> {
  const { compilation, arguments: args } = run;
  const fences = dependencies.map((event) => event.dependency(what));
  // Executions that have ended already have written their memories.
  const done = dependencies.filter((_, index) => fences[index]?.state === "SIGNALED");
  await Promise.all(done.map((event) => event.settle()));
  run.expectReady(what);
  const outputs = args.outputs();
  expectKnown(outputs, what);
  if (done.length === dependencies.length) args.expectValues(what);
  const executable = run.start(what);
  const { now } = compilation;
  const options = { ...run.options(), ...(duration !== undefined && { duration }) };
  const launched = await launchFenced(executable, args.request(), fences, options, now);
  const { status } = launched;
  if (status !== ErrorStatus.NONE) {
    const nothing = { outputShapes: [], launched: notMeasured, fenced: notMeasured };
    throwUnlessDone(run.end(what, { ...nothing, ...launched }));
  }
  const shapes = shapesBefore(outputs);
  const ended = concludeFenced(launched, shapes).then((conclusion) => run.end(what, conclusion));
  return new Event({ ended, ...(launched.syncFence && { syncFence: launched.syncFence }) });
}

type Outputs = ReturnType<ExecutionRun["arguments"]["outputs"]>;

/** Throws BAD_DATA if an extent of an output is unknown. */
function expectKnown(outputs: Outputs, what: string): void {
  for (const [index, { facts, set }] of outputs.entries()) {
    const isKnown = set === undefined || set.argument.hasNoValue || !isUnspecified(facts, set.dimensions);
    if (!isKnown) fail(`${what}: output ${index} has dimensions [${set.dimensions}] where all must be known`);
  }
}

/** The outputs' shapes before the execution: all are known. */
function shapesBefore(outputs: Outputs): OutputShape[] {
  return outputs.map(({ set }) => ({
    dimensions: set === undefined || set.argument.hasNoValue ? [] : set.dimensions,
    isSufficient: true,
  }));
}
