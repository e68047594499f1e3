/** Why a call is refused, by the client before it is sent or by the server. */
import type { ErrorStatus, Outcome } from "@nnhal/types";

/** Thrown while a call is made or served; its outcome is the answer. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly outcome: Outcome;

  constructor(status: ErrorStatus, message: string) {
    super(message);
    this.outcome = { status, message };
  }
}
