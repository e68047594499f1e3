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

  /** Also of another copy of this package: a backend that was made with another version may bring one. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === "StatusError" && "status" in value;
  }
}
