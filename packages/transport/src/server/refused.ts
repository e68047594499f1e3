/** Why a call of a client is refused. */
import type { ErrorStatus, Outcome } from "@nnhal/types";

/** Thrown while a call is served; its outcome is the answer. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly outcome: Outcome;

  constructor(status: ErrorStatus, message: string) {
    super(message);
    this.outcome = { status, message };
  }
}
