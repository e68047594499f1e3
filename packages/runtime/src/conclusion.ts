/** The end of an execution: a leaf file, which executions with and without fences import. */
import type { Outcome, OutputShape, Timing } from "@nnhal/types";
import type { Abandoned } from "./bounds.ts";

/** The result of an execution, fenced or not. */
export interface Conclusion extends Outcome, Abandoned {
  readonly outputShapes: readonly OutputShape[];
  /** From the start. */
  readonly launched: Timing;
  /** From the end of its dependencies. */
  readonly fenced: Timing;
}
