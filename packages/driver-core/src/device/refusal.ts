/** Refusals: outcomes other than NONE with a message. */
import { ErrorStatus } from "@nnhal/types";

/** An outcome other than NONE, with the reason. */
export interface Refusal {
  readonly status: ErrorStatus;
  readonly message: string;
}

export function invalid(message: string): Refusal {
  return { status: ErrorStatus.INVALID_ARGUMENT, message };
}

/** RESOURCE_EXHAUSTED_TRANSIENT: there is no room now, but there can be later. */
export function exhausted(message: string): Refusal {
  return { status: ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT, message };
}

export function failure(message: string): Refusal {
  return { status: ErrorStatus.GENERAL_FAILURE, message };
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return "an error that cannot be read";
  }
}
