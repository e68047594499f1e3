/** An error that ends a compilation or a run with a status. */
import type { ErrorStatus } from "@nnhal/types";

const isInstance = Function.prototype[Symbol.hasInstance];

/** The reason and the status of a failed compilation or run. Any other error means GENERAL_FAILURE. */
export class StatusError extends Error {
  override readonly name = "StatusError";
  readonly status: ErrorStatus;

  constructor(status: ErrorStatus, message: string) {
    super(message);
    this.status = status;
  }

  /** Also of another copy of this package: a backend that was made with another version may bring one. */
  static override [Symbol.hasInstance](this: unknown, value: unknown): boolean {
    // A class that extends this one inherits the function, and is one of its own.
    if (this !== StatusError) return isInstance.call(this, value);
    return value instanceof Error && value.name === "StatusError" && "status" in value;
  }
}
