/**
 * Limits on waiting: a call that a device never answers ends after its deadline and a grace period, or by the watchdog.
 *
 * This does not stop the device, which may still write to the outputs: `abandoned` resolves when it has answered after all.
 */

import { createFence, mergeFences } from "@nnhal/driver-core/fence";
import { deadlineGrace, failedExecution, failedFenced, failedInfo, type Refusal } from "@nnhal/driver-core/guard";
import {
  ErrorStatus,
  type ExecutionInfo,
  type ExecutionResult,
  type FencedExecuteOptions,
  type FencedResult,
  type SyncFence,
} from "@nnhal/types";
import { earlierDeadline, makeDeadline } from "@nnhal/utils";
import { type Clock, callAfter, endBy } from "@nnhal/utils/time";

/** Limits on waiting for devices. */
export interface Watch extends Clock {
  /** Nanoseconds after which a call is given up, whether it has a deadline or not; undefined: never. */
  readonly watchdog?: bigint;
}

/** An answer in place of the device's. */
export interface Abandoned {
  /** Resolves when the device has answered after all; never rejects. Absent: it has answered. */
  readonly abandoned?: Promise<unknown>;
}

/** The time at which a call that begins now is given up; undefined: never. */
export function limitOf({ now, watchdog }: Watch, deadline: bigint | undefined): bigint | undefined {
  if (deadline === undefined && watchdog === undefined) return undefined;
  const byDeadline = deadline === undefined ? undefined : makeDeadline(deadlineGrace, deadline);
  return earlierDeadline(byDeadline, watchdog === undefined ? undefined : makeDeadline(watchdog, now()));
}

/** The outcome of a call that was given up. */
export function refuseGivenUp(what: string, deadline: bigint | undefined): Refusal {
  const when = deadline === undefined ? "before the watchdog's time was over" : "by its deadline";
  return { status: ErrorStatus.MISSED_DEADLINE_TRANSIENT, message: `${what}: the device did not answer ${when}` };
}

/** An execution that ends in time; `late` makes its answer of that of an execution which was given up. */
export function boundExecution<Result>(
  work: Promise<Result>,
  deadline: bigint | undefined,
  watch: Watch,
  late: (answer: ExecutionResult & Abandoned) => Result,
): Promise<Result> {
  const limit = limitOf(watch, deadline);
  if (limit === undefined) return work;
  const refusal = failedExecution(refuseGivenUp("executing", deadline));
  return endBy(work, limit, watch, () => late({ ...refusal, abandoned: work }));
}

/** A fenced execution that ends in time. Its duration and the watchdog count from the signal of the fences. */
export async function watchFenced(
  launching: Promise<FencedResult>,
  waitFor: readonly (SyncFence | null)[],
  { deadline, duration }: FencedExecuteOptions,
  watch: Watch,
): Promise<FencedResult> {
  const { now, timer, watchdog } = watch;
  if (deadline === undefined && duration === undefined && watchdog === undefined) return launching;
  let ended = false;
  let giveUp = (_: bigint | undefined) => {};
  const late = new Promise<bigint | undefined>((resolve) => {
    giveUp = resolve;
  });
  const timers: (() => void)[] = [];
  const arm = (limit: bigint | undefined, missed: bigint | undefined) => {
    if (limit !== undefined && !ended) timers.push(callAfter(limit, { now, timer }, () => giveUp(missed)));
  };
  const stop = () => {
    ended = true;
    for (const cancel of timers) cancel();
  };
  arm(limitOf({ now, timer }, deadline), deadline);
  const fences = waitFor.filter((fence) => fence !== null);
  void mergeFences(fences)
    .wait()
    .then(() => {
      const within = duration === undefined ? undefined : makeDeadline(duration, now());
      arm(limitOf({ now, timer, ...(watchdog !== undefined && { watchdog }) }, within), within);
    });
  const launched = await Promise.race([launching, late.then((missed) => ({ missed }))]);
  if ("missed" in launched) {
    stop();
    return failedFenced(refuseGivenUp("executeFenced", launched.missed));
  }
  const { syncFence, callback } = launched;
  if (launched.status !== ErrorStatus.NONE || callback === null) {
    stop();
    return launched;
  }
  const { fence, signal, fail } = createFence();
  const conclude = async (): Promise<ExecutionInfo & Abandoned> => {
    const state = syncFence === null ? "SIGNALED" : await syncFence.wait();
    const info = await callback.getExecutionInfo();
    if (state === "SIGNALED" || info.status !== ErrorStatus.NONE) return info;
    const message = `the execution's fence ended in state ${state}`;
    return failedInfo({ status: ErrorStatus.GENERAL_FAILURE, message });
  };
  const concluding = conclude();
  const concluded = Promise.race([
    concluding,
    late.then((missed) => ({ ...failedInfo(refuseGivenUp("executing", missed)), abandoned: concluding })),
  ]);
  void concluded.then(({ status }) => {
    stop();
    if (status === ErrorStatus.NONE) signal();
    else fail();
  });
  const unfinished = failedInfo({ status: ErrorStatus.GENERAL_FAILURE, message: "the execution has not ended yet" });
  return {
    ...launched,
    syncFence: syncFence === null ? null : fence,
    callback: {
      getExecutionInfo: async () => (syncFence !== null && fence.state === "ACTIVE" ? unfinished : concluded),
    },
  };
}
