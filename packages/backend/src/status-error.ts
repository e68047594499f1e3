/** An error that ends a compilation or a run with a status of its own. */
import type { ErrorStatus } from "@nnhal/types";

/** Why a compilation or a run ended, if GENERAL_FAILURE would say too little. */
export class StatusError extends Error {
  override readonly name = "StatusError";
  readonly status: ErrorStatus;

  constructor(status: ErrorStatus, message: string) {
    super(message);
    this.status = status;
  }
}
