/**
 * Running an execution whose request has been checked: it waits for its turn, the backend runs it, and results are made lasting.
 */
import type { RunContext, RunResult } from "@nnhal/backend";
import { ErrorStatus, type ExecuteOptions, LoopTimeoutDurationNs, MeasureTiming } from "@nnhal/types";
import type { Section } from "@nnhal/utils";
import { OutOfRoom } from "../domains/budget.ts";
import { callAt } from "../schedule/timer.ts";
import { bindInputs, bindOutputs, growOutputs, settle, shortOutput } from "./bind.ts";
import { type CheckedRequest, checkInputs, isDeviceBuffer } from "./checked-request.ts";
import type { DeviceContext } from "./context.ts";
import type { RunAnswer } from "./guarded-executable.ts";
import type { ModelRecord } from "./record.ts";
import { exhausted, failure, messageOf, type Refusal } from "./refusal.ts";

/**
 * Maximum number of runs. More than one are needed only if outputs of unknown shape are larger than their device
 * buffers.
 */
const mostRuns = 4;

const late: Refusal = {
  status: ErrorStatus.MISSED_DEADLINE_PERSISTENT,
  message: "the deadline had passed before the execution",
};

/** Runs an execution when its turn comes. Never rejects. `time`: now. */
export async function run(
  record: ModelRecord,
  checked: CheckedRequest,
  options: ExecuteOptions,
  section: Section,
  context: DeviceContext,
  time: bigint = context.now(),
): Promise<RunResult> {
  const { scheduler, client } = context;
  if (client.gone !== undefined) return settle(checked, unrun(client.gone));
  retain(checked);
  /** Resolves when an engine that was given up on no longer uses the execution's memory. */
  let underWay: Promise<void> | undefined;
  try {
    if (!scheduler.tryEnter(time)) {
      const refusal = await waitForTurn(record, options, context);
      if (refusal !== undefined) return settle(checked, unrun(refusal));
    }
    try {
      const inputs = inputsNow(record, checked, options, context);
      if ("status" in inputs) return settle(checked, inputs);
      const runContext = contextOf(options, section, context);
      for (let runs = 1; ; runs++) {
        const outputs = bindOutputs(record, checked);
        const short = shortOutput(record, checked, outputs);
        if (short !== undefined) return settle(checked, short);
        const pending = record.executable.run(inputs, outputs, runContext, client);
        const result: RunAnswer = pending instanceof Promise ? await pending : pending;
        underWay = result.underWay;
        if (runs === mostRuns || !growOutputs(checked, result)) return settle(checked, result);
      }
    } finally {
      if (underWay === undefined) scheduler.leave();
      else leaveLater(underWay, context);
    }
  } catch (error) {
    const message = `executing: ${messageOf(error)}`;
    return settle(checked, unrun(error instanceof OutOfRoom ? exhausted(message) : failure(message)));
  } finally {
    if (underWay === undefined) release(checked);
    else releaseLater(checked, underWay);
  }
}

function unrun(refusal: Refusal): RunResult {
  return { ...refusal, outputShapes: [] };
}

/** Waits until the execution may start; returns a refusal if it must not. */
async function waitForTurn(
  { priority }: ModelRecord,
  { deadline }: ExecuteOptions,
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
  return exhausted(`the device is busy: this client's ${what} finds no place to wait`);
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
  const cancel = callAt(now() + overrun, now, timer, leave);
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
  { deadline }: ExecuteOptions,
  { now }: DeviceContext,
): ReturnType<typeof bindInputs> | RunResult {
  if (deadline !== undefined && now() >= deadline) return unrun(late);
  const refusal = checked.isPlain ? undefined : checkInputs(record, checked);
  return refusal === undefined ? bindInputs(record, checked) : unrun(refusal);
}

function contextOf(
  { deadline, measure, loopTimeoutDuration = LoopTimeoutDurationNs.DEFAULT }: ExecuteOptions,
  section: Section,
  { name, now, random, temporaryLimit, log, trace }: DeviceContext,
): RunContext {
  const { MAXIMUM } = LoopTimeoutDurationNs;
  return {
    now,
    random,
    ...(deadline !== undefined && { deadline }),
    loopTimeoutDuration: loopTimeoutDuration < MAXIMUM ? loopTimeoutDuration : MAXIMUM,
    ...(temporaryLimit !== undefined && { temporaryLimit }),
    measure: measure === MeasureTiming.YES,
    ...(trace.isOn && { section }),
    ...(log.VLOG_IS_ON("CPUEXE") && { log: (message: string) => log.VLOG("CPUEXE", `${name}: ${message}`) }),
  };
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
