/**
 * Calls of foreign code: whatever it does, the caller gets an answer. A thrown value and an answer that breaks a rule are
 * failures of the same kind.
 */
import { ErrorStatus } from "@nnhal/types";
import { BrokenAnswer } from "@nnhal/validation";

/** An outcome other than NONE, and why. */
export interface Refusal {
  readonly status: ErrorStatus;
  readonly message: string;
}

/** GENERAL_FAILURE for an error thrown while a method was called or its answer was read. `what`: names the method. */
export function failureOf(what: string, error: unknown): Refusal {
  const problem = error instanceof BrokenAnswer ? error.message : `threw: ${textOf(error)}`;
  return { status: ErrorStatus.GENERAL_FAILURE, message: `${what} ${problem}` };
}

/** Calls a method and reads its answer; `failed` answers for it if either throws. */
export function attempt<Answer>(what: string, call: () => Answer, failed: (refusal: Refusal) => Answer): Answer {
  try {
    return call();
  } catch (error) {
    return failed(failureOf(what, error));
  }
}

/** As `attempt`, for a method that returns a promise. `call` is called at once. */
export async function attemptAsync<Answer>(
  what: string,
  call: () => Promise<Answer>,
  failed: (refusal: Refusal) => Answer,
): Promise<Answer> {
  try {
    return await call();
  } catch (error) {
    return failed(failureOf(what, error));
  }
}

/** A thrown value as a short text. Never throws. */
export function textOf(error: unknown): string {
  try {
    const text = error instanceof Error ? error.message : String(error);
    return text.length > 1000 ? `${text.slice(0, 1000)}…` : text;
  } catch {
    return "something that cannot be shown";
  }
}
