/**
 * Fences: executions wait for one another without their caller (HAL 1.3 IPreparedModel.executeFenced).
 */
import type { Outcome } from "./outcome.ts";
import type { Timing } from "./request.ts";

/**
 * ACTIVE: not signalled yet. SIGNALED: the work behind it is done. ERROR: the work failed. UNKNOWN: the state cannot
 * be determined.
 */
export type FenceState = "ACTIVE" | "SIGNALED" | "ERROR" | "UNKNOWN";

/** A sync fence (HAL: a handle with the descriptor of one). It leaves ACTIVE once and never changes again. */
export interface SyncFence {
  /** The state now. */
  readonly state: FenceState;
  /** Resolves with the state once it is no longer ACTIVE; never rejects. */
  wait(): Promise<FenceState>;
}

/** Reports the outcome of a fenced execution (HAL 1.3 IFencedExecutionCallback). */
export interface IFencedExecutionCallback {
  /**
   * The outcome. GENERAL_FAILURE while the execution's fence is ACTIVE; else the status of the execution, a missed
   * deadline included. All times are unknown unless measured and status is NONE.
   */
  getExecutionInfo(): Promise<ExecutionInfo>;
}

/** See `IFencedExecutionCallback.getExecutionInfo`. */
export interface ExecutionInfo extends Outcome {
  /** From the call of executeFenced to the signal of its fence. */
  readonly timingLaunched: Timing;
  /** From the moment when all fences waited for were signalled. Not longer than `timingLaunched`. */
  readonly timingFenced: Timing;
}
