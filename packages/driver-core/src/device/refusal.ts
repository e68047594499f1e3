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

/** What cannot be done now for want of room, and can be later. */
export function exhausted(message: string): Refusal {
  return { status: ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT, message };
}

export function failure(message: string): Refusal {
  return { status: ErrorStatus.GENERAL_FAILURE, message };
}

/** What an error says, whatever was thrown. */
export function messageOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return "an error that cannot be read";
  }
}
