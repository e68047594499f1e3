/**
 * Executions behind fences (HAL 1.3 IPreparedModel.executeFenced): what can be checked is checked at once, the rest waits
 * for the fences, and how it ended is told by a fence and a callback.
 */
import type { RunResult } from "@nnhal/backend";
import {
  ErrorStatus,
  type ExecutionInfo,
  type FencedExecuteOptions,
  MeasureTiming,
  type Request,
  type SyncFence,
} from "@nnhal/types";
import { earlierDeadline, makeDeadline, notMeasured, type Section } from "@nnhal/utils";
import { mergeFences, usableFences } from "../fence/fence.ts";
import { type FencedWork, startFenced } from "../fence/fenced-work.ts";
import { callAt } from "../schedule/timer.ts";
import { timingOf } from "./answer.ts";
import { resetOutputs } from "./bind.ts";
import type { DeviceContext } from "./device.ts";
import { checkInputs, type Launch, launch } from "./launch.ts";
import type { ModelRecord } from "./record.ts";
import { failure, type Refusal } from "./refusal.ts";
import { run } from "./run.ts";

/** Launches an execution behind fences, or says why not. */
export function executeFenced(
  record: ModelRecord,
  request: Request,
  waitFor: readonly (SyncFence | null)[],
  options: FencedExecuteOptions,
  section: Section,
  context: DeviceContext,
): FencedWork | Refusal {
  const { now } = context;
  const launchTime = now();
  const launched = launch(record, request, false, context);
  if ("status" in launched) return launched;
  const fences = usableFences(waitFor);
  if ("status" in fences) return fences;
  const { deadline, measure } = options;
  if (deadline !== undefined && launchTime >= deadline) {
    return { status: ErrorStatus.MISSED_DEADLINE_PERSISTENT, message: "the deadline had passed before the launch" };
  }
  const waited = mergeFences(fences);
  // Where there is nothing to wait for, what device buffers hold now is what the execution will find.
  const refusal = waited.state === "SIGNALED" ? checkInputs(record, launched) : undefined;
  if (refusal !== undefined) return refusal;

  return startFenced(async () => {
    const { result, fencedTime } = await afterFences(record, launched, waited, options, section, context);
    return infoOf(result, measure === MeasureTiming.YES ? { now: now(), launchTime, fencedTime } : undefined);
  });
}

/** Why an execution does not wait any longer. */
const unsignalled = {
  late: {
    status: ErrorStatus.MISSED_DEADLINE_PERSISTENT,
    message: "the deadline passed before all fences waited for were signalled",
  },
  gone: {
    status: ErrorStatus.DEVICE_UNAVAILABLE,
    message: "the client was closed before all fences waited for were signalled",
  },
} as const;

/** Runs an execution once its fences are signalled. Never rejects. `fencedTime`: when they were. */
async function afterFences(
  record: ModelRecord,
  launched: Launch,
  waited: SyncFence,
  options: FencedExecuteOptions,
  section: Section,
  context: DeviceContext,
): Promise<{ result: RunResult; fencedTime: bigint }> {
  const { now } = context;
  const state = waited.state === "ACTIVE" ? await waitUntil(waited, options.deadline, context) : waited.state;
  const fencedTime = now();
  if (state !== "SIGNALED") {
    resetOutputs(launched);
    const failed = failure("a fence waited for failed");
    const refusal = state === "late" || state === "gone" ? unsignalled[state] : failed;
    return { result: { ...refusal, outputShapes: [] }, fencedTime };
  }
  const deadline = earlierDeadline(options.deadline, makeDeadline(options.duration, fencedTime));
  const timed = { ...options, ...(deadline !== undefined && { deadline }) };
  return { result: await run(record, launched, timed, section, context), fencedTime };
}

async function waitUntil(
  fence: SyncFence,
  deadline: bigint | undefined,
  { now, timer, client }: DeviceContext,
): Promise<SyncFence["state"] | keyof typeof unsignalled> {
  let cancel = () => {};
  let forget = () => {};
  const over = new Promise<keyof typeof unsignalled>((resolve) => {
    if (deadline !== undefined) cancel = callAt(deadline, now, timer, () => resolve("late"));
    forget = client.onClose(() => resolve("gone"));
  });
  try {
    return await Promise.race([fence.wait(), over]);
  } finally {
    cancel();
    forget();
  }
}

/** What the callback tells. */
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
