/**
 * Executions behind fences (HAL 1.3 IPreparedModel.executeFenced): arguments are checked at once, the rest waits for
 * the fences, and a fence and a callback report the outcome.
 */

import type { RunResult } from "@nnhal/backend";
import { ErrorStatus, type ExecutionInfo, MeasureTiming, type SyncFence } from "@nnhal/types";
import { earlierDeadline, makeDeadline, notMeasured, type Section } from "@nnhal/utils";
import { callAt } from "@nnhal/utils/time";
import type { ModelRecord } from "../engine/record.ts";
import { mergeFences, usableFences } from "../fence/fence.ts";
import { type FencedWork, startFenced } from "../fence/fenced-work.ts";
import { failure, type Refusal } from "../guard/refusal.ts";
import { timingOf } from "./answer.ts";
import type { FencedRunOptions } from "./arguments.ts";
import { resetOutputs } from "./bind.ts";
import { type CheckedRequest, checkInputs } from "./checked-request.ts";
import type { DeviceContext } from "./context.ts";
import { requestText } from "./log-text.ts";
import { noPlaceToWait, run } from "./run.ts";

/** Launches an execution behind fences, or returns a refusal. `check`: the request, if it is right. */
export function executeFenced(
  record: ModelRecord,
  check: () => CheckedRequest | Refusal,
  waitFor: readonly (SyncFence | null)[],
  options: FencedRunOptions,
  section: Section,
  context: DeviceContext,
): FencedWork | Refusal {
  const { now, scheduler, client, log, name } = context;
  const launchTime = now();
  const checked = check();
  if ("status" in checked) return checked;
  const fences = usableFences(waitFor);
  if ("status" in fences) return fences;
  log.VLOG("DRIVER", () => `${name}: executeFenced ${requestText(checked.request)} after ${fences.length} fences`);
  const { deadline, measure } = options;
  if (deadline !== undefined && launchTime >= deadline) {
    return { status: ErrorStatus.MISSED_DEADLINE_PERSISTENT, message: "the deadline had passed before the launch" };
  }
  const waited = mergeFences(fences);
  // If there is nothing to wait for, device buffers already have the values that the execution will read.
  const isReady = waited.state === "SIGNALED";
  const refusal = isReady ? checkInputs(record, checked) : undefined;
  if (refusal !== undefined) return refusal;
  if (!isReady && scheduler.isFull(client)) return noPlaceToWait("execution");

  return startFenced(async () => {
    const { result, fencedTime } = await afterFences(record, checked, waited, options, section, context);
    return infoOf(result, measure === MeasureTiming.YES ? { now: now(), launchTime, fencedTime } : undefined);
  });
}

const late: Refusal = {
  status: ErrorStatus.MISSED_DEADLINE_PERSISTENT,
  message: "the deadline passed before all fences waited for were signalled",
};

/** Runs an execution when its fences are signalled. Never rejects. `fencedTime`: the time when they were. */
async function afterFences(
  record: ModelRecord,
  checked: CheckedRequest,
  waited: SyncFence,
  options: FencedRunOptions,
  section: Section,
  context: DeviceContext,
): Promise<{ result: RunResult; fencedTime: bigint }> {
  const { now } = context;
  const refusal = await refusalOf(waited, options.deadline, context);
  const fencedTime = now();
  if (refusal !== undefined) {
    resetOutputs(checked);
    return { result: { ...refusal, outputShapes: [] }, fencedTime };
  }
  const deadline = earlierDeadline(options.deadline, makeDeadline(options.duration, fencedTime));
  const timed = { ...options, ...(deadline !== undefined && { deadline }) };
  return { result: await run(record, checked, timed, section, context), fencedTime };
}

/** Waits for a fence in one of the client's waiting places. Returns a refusal if the execution must not start. */
async function refusalOf(
  fence: SyncFence,
  deadline: bigint | undefined,
  { now, timer, client, scheduler }: DeviceContext,
): Promise<Refusal | undefined> {
  const ofState = (state: SyncFence["state"]) =>
    state === "SIGNALED" ? undefined : failure("a fence waited for failed");
  if (fence.state !== "ACTIVE") return ofState(fence.state);
  const giveBack = scheduler.hold(client);
  if (giveBack === undefined) return noPlaceToWait("execution");
  let cancel = () => {};
  let forget = () => {};
  const over = new Promise<Refusal | undefined>((resolve) => {
    if (deadline !== undefined) cancel = callAt(deadline, { now, timer }, () => resolve(late));
    forget = client.onClose(() => resolve(client.gone));
  });
  try {
    return await Promise.race([fence.wait().then(ofState), over]);
  } finally {
    giveBack();
    cancel();
    forget();
  }
}

/** The information for the callback. */
function infoOf(
  { status, message, timeOnDevice }: RunResult,
  measured: { readonly now: bigint; readonly launchTime: bigint; readonly fencedTime: bigint } | undefined,
): ExecutionInfo {
  const outcome = { status, ...(message !== undefined && { message }) };
  if (status !== ErrorStatus.NONE || measured === undefined) {
    return { ...outcome, timingLaunched: notMeasured, timingFenced: notMeasured };
  }
  const { now, launchTime, fencedTime } = measured;
  return {
    ...outcome,
    timingLaunched: timingOf(timeOnDevice, now - launchTime),
    timingFenced: timingOf(timeOnDevice, now - fencedTime),
  };
}
