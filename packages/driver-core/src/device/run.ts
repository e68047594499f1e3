/**
 * Running an execution whose request has been checked: it waits for its turn, the backend runs it, and results are made lasting.
 */

import type { InputBuffer, RunContext, RunResult } from "@nnhal/backend";
import { ErrorStatus } from "@nnhal/types";
import type { Section } from "@nnhal/utils";
import { callAt } from "@nnhal/utils/time";
import { OutOfMemory } from "../domains/budget.ts";
import type { RunAnswer } from "../engine/guarded-executable.ts";
import type { ModelRecord } from "../engine/record.ts";
import { failure, messageOf, type Refusal, refuseForRoom } from "../guard/refusal.ts";
import type { RunOptions } from "./arguments.ts";
import { bindInputs, bindOutputs, growOutputs, settle, shortOutput } from "./bind.ts";
import { type CheckedRequest, checkInputs, isDeviceBuffer } from "./checked-request.ts";
import type { DeviceContext } from "./context.ts";
import { runContextOf } from "./run-context.ts";

/**
 * Maximum number of runs. More than one are needed only if outputs of unknown shape are larger than their device
 * buffers.
 */
const mostRuns = 4;

const late: Refusal = {
  status: ErrorStatus.MISSED_DEADLINE_PERSISTENT,
  message: "the deadline had passed before the execution",
};

const stopped: Refusal = {
  status: ErrorStatus.MISSED_DEADLINE_TRANSIENT,
  message: "the execution was stopped before it began",
};

/** An execution under way. */
interface Job {
  readonly record: ModelRecord;
  readonly checked: CheckedRequest;
  readonly options: RunOptions;
  readonly section: Section;
  readonly context: DeviceContext;
}

/**
 * Runs an execution when its turn comes: at once if that is now, with the result itself if the engine answers at once. Neither rejects
 * nor throws. `time`: now.
 */
export function run(
  record: ModelRecord,
  checked: CheckedRequest,
  options: RunOptions,
  section: Section,
  context: DeviceContext,
  time: bigint = context.now(),
): RunResult | Promise<RunResult> {
  const { scheduler, client } = context;
  if (client.gone !== undefined) return settle(checked, unrun(client.gone));
  const job: Job = { record, checked, options, section, context };
  retain(checked);
  return scheduler.tryEnter(time) ? runNow(job) : runLater(job);
}

async function runLater(job: Job): Promise<RunResult> {
  const { record, checked, options, context } = job;
  let refusal: Refusal | undefined;
  try {
    refusal = await waitForTurn(record, options, context);
  } catch (error) {
    refusal = failure(`executing: ${messageOf(error)}`);
  }
  if (refusal === undefined) return runNow(job);
  release(checked);
  return settle(checked, unrun(refusal));
}

/** Runs an execution that has its turn. */
function runNow(job: Job): RunResult | Promise<RunResult> {
  let answer: RunAnswer | Promise<RunAnswer>;
  try {
    answer = answerOf(job);
  } catch (error) {
    answer = unrun(refuseThrown(error));
  }
  if (!(answer instanceof Promise)) return conclude(job, answer);
  return answer.then(
    (result) => conclude(job, result),
    (error) => conclude(job, unrun(refuseThrown(error))),
  );
}

function refuseThrown(error: unknown): Refusal {
  const message = `executing: ${messageOf(error)}`;
  return error instanceof OutOfMemory ? refuseForRoom(message) : failure(message);
}

/** The engine's answer, or why it is not asked. */
function answerOf(job: Job): RunAnswer | Promise<RunAnswer> {
  const { record, checked, options, section, context } = job;
  const inputs = inputsNow(record, checked, options, context);
  if ("status" in inputs) return inputs;
  const runContext = runContextOf(options, section, context);
  const first = runOnce(job, inputs, runContext);
  return checked.written.size === 0 ? first : runUntilItFits(job, inputs, runContext, first);
}

function runOnce(
  { record, checked, context }: Job,
  inputs: readonly (InputBuffer | undefined)[],
  runContext: RunContext,
): RunAnswer | Promise<RunAnswer> {
  const outputs = bindOutputs(record, checked);
  return shortOutput(record, checked, outputs) ?? record.executable.run(inputs, outputs, runContext, context.client);
}

/** Device buffers among the outputs grow if they are too small, as often as `mostRuns` allows. */
async function runUntilItFits(
  job: Job,
  inputs: readonly (InputBuffer | undefined)[],
  runContext: RunContext,
  first: RunAnswer | Promise<RunAnswer>,
): Promise<RunAnswer> {
  let answer = await first;
  for (let runs = 1; runs < mostRuns && growOutputs(job.checked, answer); runs++) {
    answer = await runOnce(job, inputs, runContext);
  }
  return answer;
}

/** Stores the results of an execution, and gives back its turn and its memory. */
function conclude({ checked, context }: Job, answer: RunAnswer): RunResult {
  // Resolves when an engine that was given up on no longer uses the execution's memory.
  const { underWay } = answer;
  try {
    return settle(checked, answer);
  } catch (error) {
    return settle(checked, unrun(refuseThrown(error)));
  } finally {
    if (underWay === undefined) {
      context.scheduler.leave();
      release(checked);
    } else {
      leaveLater(underWay, context);
      releaseLater(checked, underWay);
    }
  }
}

/** The result of an execution that did not run. */
export function unrun(refusal: Refusal): RunResult {
  return { ...refusal, outputShapes: [] };
}

/** Waits until the execution may start; returns a refusal if it must not. */
async function waitForTurn(
  { priority }: ModelRecord,
  { deadline }: RunOptions,
  { scheduler, client }: DeviceContext,
): Promise<Refusal | undefined> {
  const entry = await scheduler.enter({ client, priority, ...(deadline !== undefined && { deadline }) });
  switch (entry) {
    case "started":
      return undefined;
    case "full":
      return noPlaceToWait("execution");
    default:
      return client.gone ?? late;
  }
}

/** The refusal of work that would have to wait. */
export function noPlaceToWait(what: string): Refusal {
  return refuseForRoom(`the device is busy: this client's ${what} finds no place to wait`);
}

/**
 * A run that the engine does not end in time keeps its turn until it ends, but at most for `overrun`: an engine that
 * hangs must not block others for ever. Until it ends, it takes one of its client's waiting places, so that the number
 * of hanging runs is limited.
 */
function leaveLater(underWay: Promise<void>, { scheduler, client, now, timer, overrun }: DeviceContext): void {
  const giveBack = scheduler.hold(client);
  let hasLeft = false;
  const leave = () => {
    if (hasLeft) return;
    hasLeft = true;
    scheduler.leave();
  };
  const cancel = callAt(now() + overrun, { now, timer }, leave);
  void underWay.then(() => {
    cancel();
    giveBack?.();
    leave();
  });
}

/** The inputs as they are now, or why the execution cannot start. */
function inputsNow(
  record: ModelRecord,
  checked: CheckedRequest,
  { deadline, signal }: RunOptions,
  { now }: DeviceContext,
): ReturnType<typeof bindInputs> | RunResult {
  if (signal?.aborted) return unrun(stopped);
  if (deadline !== undefined && now() >= deadline) return unrun(late);
  const refusal = checked.isPlain ? undefined : checkInputs(record, checked);
  return refusal === undefined ? bindInputs(record, checked) : unrun(refusal);
}

/** A device buffer that is closed or collected meanwhile keeps the memory that the execution uses. */
function retain({ isPlain, pools }: CheckedRequest): void {
  if (isPlain) return;
  for (const pool of pools) if (isDeviceBuffer(pool)) pool.storage.retain();
}

function release({ isPlain, pools }: CheckedRequest): void {
  if (isPlain) return;
  for (const pool of pools) if (isDeviceBuffer(pool)) pool.storage.release();
}

/** Places in the engine's memory are not reused until the engine has released them. */
function releaseLater(checked: CheckedRequest, underWay: Promise<void>): void {
  if (checked.isPlain) return;
  const inPlaces = [...checked.written.values()].filter(({ storage }) => storage.place !== undefined);
  for (const buffer of inPlaces) buffer.lateRuns++;
  void underWay.then(() => {
    for (const buffer of inPlaces) buffer.lateRuns--;
    release(checked);
  });
}
