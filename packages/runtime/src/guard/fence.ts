/**
 * Guards of foreign fences and callbacks: waiting for them never throws and never rejects.
 */
import {
  ErrorStatus,
  type ExecutionInfo,
  type FenceState,
  type IFencedExecutionCallback,
  type SyncFence,
} from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";
import { broken, hasFields, readOutcome, show } from "@nnhal/validation";
import { attemptAsync } from "./attempt.ts";
import { timingOf } from "./execution-answer.ts";

const fenceStates: ReadonlySet<unknown> = new Set<FenceState>(["ACTIVE", "SIGNALED", "ERROR", "UNKNOWN"]);
const guards = new WeakMap<SyncFence, SyncFence>();

/** Whether a value has the methods of a fence. They can still fail. */
export function isFence(value: unknown): value is SyncFence {
  try {
    return hasFields(value) && typeof value.wait === "function" && typeof value.state === "string";
  } catch {
    return false;
  }
}

/** A fence that is in state UNKNOWN if the one behind it throws, rejects, or has an unknown state. */
export function guardFence(fence: SyncFence): SyncFence {
  const known = guards.get(fence);
  if (known !== undefined) return known;
  const guard: SyncFence = {
    get state() {
      try {
        return settledState(fence.state, true);
      } catch {
        return "UNKNOWN";
      }
    },
    async wait() {
      try {
        return settledState(await fence.wait(), false);
      } catch {
        return "UNKNOWN";
      }
    },
  };
  guards.set(fence, guard);
  guards.set(guard, guard);
  return guard;
}

function settledState(state: unknown, mayBeActive: boolean): FenceState {
  return isFenceState(state) && (mayBeActive || state !== "ACTIVE") ? state : "UNKNOWN";
}

function isFenceState(state: unknown): state is FenceState {
  return fenceStates.has(state);
}

/** A callback that answers GENERAL_FAILURE if the one behind it throws, rejects, or answers a value that is not an outcome. */
export function guardFencedCallback(callback: IFencedExecutionCallback, deviceName: string): IFencedExecutionCallback {
  const what = `${deviceName}: getExecutionInfo`;
  return {
    getExecutionInfo: () =>
      attemptAsync(
        what,
        async () => infoOf(await callback.getExecutionInfo()),
        (refusal): ExecutionInfo => ({ ...refusal, timingLaunched: notMeasured, timingFenced: notMeasured }),
      ),
  };
}

function infoOf(info: unknown): ExecutionInfo {
  const outcome = readOutcome(info);
  if (!hasFields(info)) return broken(`answered ${show(info)}`);
  const isDone = outcome.status === ErrorStatus.NONE;
  const { timingLaunched, timingFenced } = info;
  return {
    ...outcome,
    timingLaunched: isDone ? timingOf(timingLaunched) : notMeasured,
    timingFenced: isDone ? timingOf(timingFenced) : notMeasured,
  };
}
