/** An error that ends a compilation or a run with a status. */
import type { ErrorStatus } from "@nnhal/types";

/** The reason and the status of a failed compilation or run. Any other error means GENERAL_FAILURE. */
export class StatusError extends Error {
  override readonly name = "StatusError";
  readonly status: ErrorStatus;

  constructor(status: ErrorStatus, message: string) {
    super(message);
    this.status = status;
  }
}

/** Whether an error is a StatusError, also one of another copy of this package, which the package of a backend may bring. */
export function isStatusError(error: unknown): error is StatusError {
  return error instanceof Error && error.name === "StatusError" && "status" in error;
}
