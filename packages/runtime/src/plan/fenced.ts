/**
 * Executions of planned models behind fences: what can be checked is checked at once, the rest waits for the fences, and a
 * fence and a callback tell how it ended (HAL 1.3 IPreparedModel.executeFenced).
 */
import { createFence, mergeFences, syncWait, usableFences } from "@nnhal/driver-core/fence";
import {
  ErrorStatus,
  type ExecuteOptions,
  type ExecutionInfo,
  type ExecutionResult,
  type FencedExecuteOptions,
  type FencedResult,
  MeasureTiming,
  type Outcome,
  type SyncFence,
  type Timing,
} from "@nnhal/types";
import { hasDeadlinePassed, makeDeadline, notMeasured } from "@nnhal/utils";

/** Executes once all fences are signalled, or says why not. `execute` never rejects. */
export function executeAfter(
  waitFor: readonly (SyncFence | null)[],
  { duration, ...options }: FencedExecuteOptions,
  now: () => bigint,
  execute: (options: ExecuteOptions) => Promise<ExecutionResult>,
): FencedResult {
  const launched = now();
  const fences = usableFences(waitFor);
  if ("status" in fences) return unfenced(fences);
  if (hasDeadlinePassed(options.deadline, launched)) {
    const message = "the deadline had passed before the launch";
    return unfenced({ status: ErrorStatus.MISSED_DEADLINE_PERSISTENT, message });
  }
  const { fence, signal, fail } = createFence();
  let info: ExecutionInfo = {
    status: ErrorStatus.GENERAL_FAILURE,
    message: "the execution has not ended yet",
    timingLaunched: notMeasured,
    timingFenced: notMeasured,
  };
  const work = async () => {
    const failed = await settled(fences, options.deadline, now);
    const fenced = now();
    const deadline = earlier(options.deadline, makeDeadline(duration, fenced));
    const { status, message, timing } =
      failed ?? (await execute({ ...options, ...(deadline !== undefined && { deadline }) }));
    const isMeasured = options.measure === MeasureTiming.YES && status === ErrorStatus.NONE;
    info = {
      // Outputs are fully specified, so that one was too small is a failure.
      status: status === ErrorStatus.OUTPUT_INSUFFICIENT_SIZE ? ErrorStatus.GENERAL_FAILURE : status,
      ...(message !== undefined && { message }),
      timingLaunched: isMeasured ? since(launched, now, timing) : notMeasured,
      timingFenced: isMeasured ? since(fenced, now, timing) : notMeasured,
    };
    if (status === ErrorStatus.NONE) signal();
    else fail();
  };
  void work();
  return { status: ErrorStatus.NONE, syncFence: fence, callback: { getExecutionInfo: async () => info } };
}

/** The answer where nothing was launched. */
export function unfenced({ status, message }: Outcome): FencedResult {
  return { status, ...(message !== undefined && { message }), syncFence: null, callback: null };
}

/** Undefined once the fences are signalled; else why they will not be, or not in time. */
async function settled(
  fences: readonly SyncFence[],
  deadline: bigint | undefined,
  now: () => bigint,
): Promise<ExecutionResult | undefined> {
  const all = mergeFences(fences);
  const state = deadline === undefined ? await all.wait() : await syncWait(all, deadline - now());
  if (state === "SIGNALED") return undefined;
  const nothing = { outputShapes: [], timing: notMeasured };
  return state === "ACTIVE"
    ? {
        status: ErrorStatus.MISSED_DEADLINE_PERSISTENT,
        message: "the deadline passed before all fences waited for were signalled",
        ...nothing,
      }
    : { status: ErrorStatus.GENERAL_FAILURE, message: "a fence waited for failed", ...nothing };
}

/** In microseconds; on a device only where one device alone has measured it. */
function since(start: bigint, now: () => bigint, { timeOnDevice }: Timing): Timing {
  const timeInDriver = (now() - start) / 1000n;
  const isKnown = timeOnDevice !== notMeasured.timeOnDevice;
  return { timeOnDevice: isKnown && timeOnDevice > timeInDriver ? timeInDriver : timeOnDevice, timeInDriver };
}

function earlier(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a < b ? a : b;
}
