/**
 * The options of a run of a plan, and the outcome of its steps.
 */
import type { Step } from "@nnhal/driver-core/partition";
import type { ExecuteOptions, Outcome, OutputShape, PreparedModel } from "@nnhal/types";
import type { Logger, Section } from "@nnhal/utils";
import type { Arguments } from "./place-arguments.ts";
import type { PreparedExecution } from "./prepared-plan.ts";

/** How long a step took. */
export interface StepTime {
  /** A step of the compilation's plan, or of a plan inside it. */
  readonly step: Step;
  readonly nanoseconds: bigint;
}

/** What runs inside one another share. */
export interface RunOptions extends ExecuteOptions {
  /** The steady clock that deadlines are times on, in nanoseconds. */
  readonly now: () => bigint;
  /**
   * What to do where a step fails on its device; absent: nothing. `run` runs the step on another model, which sees nothing
   * of the device's buffers. Undefined: nothing can be done.
   */
  readonly recover?:
    | ((
        step: PreparedExecution,
        args: Arguments,
        run: (prepared: PreparedModel) => Promise<StepOutcome>,
      ) => Promise<StepOutcome> | undefined)
    | undefined;
  /** Told of each step that ran. */
  readonly onStep?: (time: StepTime) => void;
  /** The section that the run lies in. */
  readonly section: Section;
  readonly log: Logger;
}

/** The outcome of a step or of a plan, and the shapes of its outputs. */
export interface StepOutcome extends Outcome {
  readonly outputShapes: readonly OutputShape[];
}
