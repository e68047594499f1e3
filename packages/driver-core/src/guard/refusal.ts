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
export function refuseForRoom(message: string): Refusal {
  return { status: ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT, message };
}

export function failure(message: string): Refusal {
  return { status: ErrorStatus.GENERAL_FAILURE, message };
}

/** The most characters that the message of a thrown value has. */
const longest = 1000;

/** The message of anything that was thrown, cut after 1,000 characters. Never throws. */
export function messageOf(error: unknown): string {
  try {
    const text = error instanceof Error ? error.message : error;
    const message = String(text);
    return message.length > longest ? `${message.slice(0, longest)}…` : message;
  } catch {
    return "an error that cannot be read";
  }
}
