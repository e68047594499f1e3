/** Guards of foreign fences: waiting for one never throws and never rejects. */
import type { FenceState, SyncFence } from "@nnhal/types";
import { hasFields } from "@nnhal/validation";

const fenceStates: ReadonlySet<unknown> = new Set<FenceState>(["ACTIVE", "SIGNALED", "ERROR", "UNKNOWN"]);

const guards = new WeakMap<SyncFence, SyncFence>();

/** Returns true if a value has the methods of a fence. They can still fail. */
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
