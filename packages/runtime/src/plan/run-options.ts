/**
 * The options of a run of a plan, and the outcome of its steps.
 */
import type { Step } from "@nnhal/driver-core/partition";
import type { ExecuteOptions, Outcome, OutputShape, PreparedModel } from "@nnhal/types";
import type { Logger, Section } from "@nnhal/utils";
import type { Arguments } from "./place-arguments.ts";
import type { PreparedExecution } from "./prepared-plan.ts";

/** Duration of a step. */
export interface StepTime {
  /** A step of the compilation's plan, or of a plan inside it. */
  readonly step: Step;
  readonly nanoseconds: bigint;
}

/** The options that nested runs share. */
export interface RunOptions extends ExecuteOptions {
  /** The steady clock that deadlines are times on, in nanoseconds. */
  readonly now: () => bigint;
  /**
   * Recovers from a step that failed on its device; absent: there is no recovery. `run` runs the step on another prepared model,
   * without the device's buffers. Undefined: recovery is impossible.
   */
  readonly recover?:
    | ((
        step: PreparedExecution,
        args: Arguments,
        run: (prepared: PreparedModel) => Promise<StepOutcome>,
      ) => Promise<StepOutcome> | undefined)
    | undefined;
  /** Called after each step. */
  readonly onStep?: (time: StepTime) => void;
  /** The trace section of the run. */
  readonly section: Section;
  readonly log: Logger;
}

/** The outcome of a step or of a plan, and the shapes of its outputs. */
export interface StepOutcome extends Outcome {
  readonly outputShapes: readonly OutputShape[];
}
