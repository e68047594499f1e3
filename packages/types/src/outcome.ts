/**
 * The outcome of a call of the device contract, and that of an execution.
 */
import type { ErrorStatus } from "./enums.ts";
import type { OutputShape, Timing } from "./request.ts";

/** The fields that every answer has. `Status`: the statuses of a HAL version. */
export interface Outcome<Status extends ErrorStatus = ErrorStatus> {
  readonly status: Status;
  /** The attempted action, the rule that it broke and the value that broke it. Absent if status is NONE. */
  readonly message?: string;
}

/** An answer, at once or by a promise that never rejects. Remote devices answer with a promise. */
export type Awaitable<Answer> = Answer | Promise<Answer>;

/** The answer to an execution. */
export interface ExecutionResult extends Outcome {
  /** One for each output if status is NONE or OUTPUT_INSUFFICIENT_SIZE, else empty. */
  readonly outputShapes: readonly OutputShape[];
  /** Both unknown unless measured and status is NONE. */
  readonly timing: Timing;
}
