/**
 * Why something from outside was refused, or failed.
 */
import { ErrorStatus } from "@nnhal/types";

/** An outcome other than NONE, and why. */
export interface Refusal {
  readonly status: ErrorStatus;
  readonly message: string;
}

export function invalid(message: string): Refusal {
  return { status: ErrorStatus.INVALID_ARGUMENT, message };
}

export function failure(message: string): Refusal {
  return { status: ErrorStatus.GENERAL_FAILURE, message };
}

/** What an error says. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
