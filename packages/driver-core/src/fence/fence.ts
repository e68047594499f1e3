/** Sync fences: created by the side that executes, awaited by the side that depends on the result. */

import { ErrorStatus, type FenceState, type Outcome, type SyncFence } from "@nnhal/types";
import { systemTimer, type Timer, within } from "@nnhal/utils/time";
import { longestList, show } from "@nnhal/validation";
import { messageOf } from "../guard/refusal.ts";

/** A fence with the functions that settle it. Only the first call of `signal` or `fail` has an effect. */
export interface FenceSource {
  readonly fence: SyncFence;
  signal(): void;
  fail(): void;
}

/** A fence in state ACTIVE. */
export function createFence(): FenceSource {
  let state: FenceState = "ACTIVE";
  let wake: (state: FenceState) => void = () => {};
  const settled = new Promise<FenceState>((resolve) => {
    wake = resolve;
  });
  const settle = (to: FenceState) => {
    if (state !== "ACTIVE") return;
    state = to;
    wake(to);
  };
  return {
    fence: {
      get state() {
        return state;
      },
      wait: () => settled,
    },
    signal: () => settle("SIGNALED"),
    fail: () => settle("ERROR"),
  };
}

/**
 * Checks the fences that an execution waits for. Returns a refusal for one that is null or has failed (executeFenced).
 */
export function usableFences(waitFor: readonly (SyncFence | null)[]): SyncFence[] | Required<Outcome> {
  const refuse = (problem: string) => ({ status: ErrorStatus.INVALID_ARGUMENT, message: problem });
  const fences: SyncFence[] = [];
  try {
    if (!Array.isArray(waitFor)) return refuse(`waitFor: expected an array, got ${show(waitFor)}`);
    const { length } = waitFor;
    if (length > longestList) return refuse(`waitFor: expected at most ${longestList} fences, got ${length}`);
    for (let index = 0; index < length; index++) {
      const fence: unknown = waitFor[index];
      if (typeof fence !== "object" || fence === null) {
        return refuse(`waitFor[${index}]: expected a fence, got ${show(fence)}`);
      }
      // Reading a property of any object returns a value or throws.
      const { state } = fence as { readonly state?: unknown };
      if (state !== "ACTIVE" && state !== "SIGNALED") {
        return refuse(
          `waitFor[${index}]: expected a fence in state ACTIVE or SIGNALED, got ${typeof state === "string" ? state : show(state)}`,
        );
      }
      // It has the state of a fence; its other members are guarded when they are used.
      fences.push(fence as SyncFence);
    }
    return fences;
  } catch (error) {
    return refuse(`waitFor cannot be read: ${messageOf(error)}`);
  }
}

/** Merges fences: SIGNALED once all are, ERROR as soon as one is ERROR or UNKNOWN. Without fences, SIGNALED. */
export function mergeFences(fences: readonly SyncFence[]): SyncFence {
  const { fence, signal, fail } = createFence();
  let left = 0;
  const note = (state: FenceState) => {
    if (state !== "SIGNALED") fail();
    else if (--left === 0) signal();
  };
  // Fences that are settled already count at once, before the merged fence is returned.
  const unsignaled = fences.map((one) => ({ one, state: stateOf(one) })).filter(({ state }) => state !== "SIGNALED");
  left = unsignaled.length;
  if (left === 0) signal();
  for (const { one, state } of unsignaled) {
    if (state === "ACTIVE") void waitSafely(one).then(note);
    else fail();
  }
  return fence;
}

/** The state of a fence; UNKNOWN if reading it throws. */
function stateOf(fence: SyncFence): FenceState {
  try {
    return fence.state;
  } catch {
    return "UNKNOWN";
  }
}

/** The final state of a fence; UNKNOWN if a foreign fence's `wait()` rejects. */
async function waitSafely(fence: SyncFence): Promise<FenceState> {
  try {
    return await fence.wait();
  } catch {
    return "UNKNOWN";
  }
}

/**
 * Waits for a fence for at most `timeout` nanoseconds. Resolves with ACTIVE if it has not settled by then (Utils
 * syncWait).
 */
export async function syncWait(fence: SyncFence, timeout: bigint, timer: Timer = systemTimer): Promise<FenceState> {
  if (fence.state !== "ACTIVE" || timeout <= 0n) return fence.state;
  return within(waitSafely(fence), timeout, timer, () => fence.state);
}
