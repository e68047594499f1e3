import type { ErrorStatus, ExecutionResult } from "@nnhal/types";
import { notMeasured } from "@nnhal/utils";

/** The answer to an execution that did not run. */
export function refused(status: ErrorStatus, message: string): ExecutionResult {
  return { status, message, outputShapes: [], timing: notMeasured };
}
