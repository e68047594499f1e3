/**
 * Answers that a device of this process has checked already: those of its engine. A caller in the process need not check them again.
 */
import type { ErrorStatus, ExecutionResult, OutputShape, Request, Timing } from "@nnhal/types";

/** The answer NONE to one request. A copy of it, and the same answer to another request, are answers like any other. */
export class CheckedAnswer implements ExecutionResult {
  readonly status: typeof ErrorStatus.NONE = 0;
  readonly outputShapes: readonly OutputShape[];
  readonly timing: Timing;
  /** Private, so that no driver from elsewhere can make such an answer. A WeakMap of answers takes as long as a whole execution. */
  readonly #request: Request;

  /** `outputShapes`: checked against the request. */
  constructor(request: Request, outputShapes: readonly OutputShape[], timing: Timing) {
    this.#request = request;
    this.outputShapes = outputShapes;
    this.timing = timing;
  }

  /** True if a value is an answer to this request that has been checked. */
  static isTo(request: Request, value: unknown): value is CheckedAnswer {
    return value instanceof Object && #request in value && value.#request === request;
  }
}
