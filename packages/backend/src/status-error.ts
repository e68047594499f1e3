/** An error that ends a compilation or a run with a status. */
import { ErrorStatus } from "@nnhal/types";
import type { RunResult } from "./contract.ts";

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
    // biome-ignore lint/complexity/noThisInStatic: a class that extends this one inherits the function, and has instances of its own.
    if (this !== StatusError) return isInstance.call(this, value);
    return value instanceof Error && value.name === "StatusError" && "status" in value;
  }
}

/** The result of a run that threw: the status of a StatusError; RESOURCE_EXHAUSTED_TRANSIENT for a RangeError, which an allocation that is too large throws; else GENERAL_FAILURE. */
export function failedRun(error: unknown): RunResult {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof StatusError) return { status: error.status, message, outputShapes: [] };
  const { RESOURCE_EXHAUSTED_TRANSIENT, GENERAL_FAILURE } = ErrorStatus;
  const status = error instanceof RangeError ? RESOURCE_EXHAUSTED_TRANSIENT : GENERAL_FAILURE;
  return { status, message, outputShapes: [] };
}
