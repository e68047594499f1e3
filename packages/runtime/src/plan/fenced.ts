/**
 * Executions of planned models behind fences: the request is checked immediately and executed after the fences; a
 * fence and a callback report the result (HAL 1.3 IPreparedModel.executeFenced).
 */
import { type FencedWork, mergeFences, startFenced, syncWait, usableFences } from "@nnhal/driver-core/fence";
import { failedExecution, failedFenced } from "@nnhal/driver-core/guard";
import {
  ErrorStatus,
  type ExecuteOptions,
  type ExecutionInfo,
  type ExecutionResult,
  type FencedExecuteOptions,
  MeasureTiming,
  type Outcome,
  type SyncFence,
  type Timing,
} from "@nnhal/types";
import { earlierDeadline, hasDeadlinePassed, makeDeadline, notMeasured } from "@nnhal/utils";
import type { Abandoned } from "../bounds.ts";

/** Executes once all fences are signalled, or reports why that is impossible. */
export function executeAfter(
  waitFor: readonly (SyncFence | null)[],
  { duration, ...options }: FencedExecuteOptions,
  now: () => bigint,
  execute: (options: ExecuteOptions) => Promise<ExecutionResult & Abandoned>,
): FencedWork {
  const launched = now();
  const fences = usableFences(waitFor);
  const refuse = (outcome: Outcome): FencedWork => ({ answer: failedFenced(outcome), ended: Promise.resolve() });
  if ("status" in fences) return refuse(fences);
  if (hasDeadlinePassed(options.deadline, launched)) {
    const message = "the deadline had passed before the launch";
    return refuse({ status: ErrorStatus.MISSED_DEADLINE_PERSISTENT, message });
  }
  return startFenced(async (): Promise<ExecutionInfo & Abandoned> => {
    const failed = await settle(fences, options.deadline, now);
    const fenced = now();
    const deadline = earlierDeadline(options.deadline, makeDeadline(duration, fenced));
    const { status, message, timing, abandoned } =
      failed ?? (await execute({ ...options, ...(deadline !== undefined && { deadline }) }));
    // One end for both: the longer duration is never the shorter one.
    const end = now();
    const isMeasured = options.measure === MeasureTiming.YES && status === ErrorStatus.NONE;
    return {
      status,
      ...(message !== undefined && { message }),
      timingLaunched: isMeasured ? timingOf(end - launched, timing) : notMeasured,
      timingFenced: isMeasured ? timingOf(end - fenced, timing) : notMeasured,
      ...(abandoned && { abandoned }),
    };
  });
}

/** Undefined once the fences are signalled; a failure if one fails or the deadline passes. */
async function settle(
  fences: readonly SyncFence[],
  deadline: bigint | undefined,
  now: () => bigint,
): Promise<(ExecutionResult & Abandoned) | undefined> {
  const all = mergeFences(fences);
  const state = deadline === undefined ? await all.wait() : await syncWait(all, deadline - now());
  if (state === "SIGNALED") return undefined;
  return failedExecution(
    state === "ACTIVE"
      ? {
          status: ErrorStatus.MISSED_DEADLINE_PERSISTENT,
          message: "the deadline passed before all fences waited for were signalled",
        }
      : { status: ErrorStatus.GENERAL_FAILURE, message: "a fence waited for failed" },
  );
}

/** Nanoseconds as microseconds. The time on the device is known only if a single device measured it. */
function timingOf(duration: bigint, { timeOnDevice }: Timing): Timing {
  const timeInDriver = duration / 1000n;
  const isKnown = timeOnDevice !== notMeasured.timeOnDevice;
  return { timeOnDevice: isKnown && timeOnDevice > timeInDriver ? timeInDriver : timeOnDevice, timeInDriver };
}
