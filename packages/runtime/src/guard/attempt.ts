/**
 * Calls of foreign code: whatever it does, the caller gets an answer. A thrown value and an answer that breaks a rule are
 * failures of the same kind.
 */
import { ErrorStatus, type Outcome } from "@nnhal/types";
import { isErrorStatus } from "@nnhal/utils";

/** An outcome other than NONE, and why. */
export interface Refusal {
  readonly status: ErrorStatus;
  readonly message: string;
}

/** An answer that breaks a rule; the message continues a sentence that begins with the method. */
class BrokenAnswer extends Error {}

/** Ends the reading of an answer: `problem` begins with a verb, such as `answered …`. */
export function broken(problem: string): never {
  throw new BrokenAnswer(problem);
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

const done: Outcome = { status: ErrorStatus.NONE };

/** The status of an answer, and the message that goes with one other than NONE. */
export function outcomeOf(answer: unknown): Outcome {
  if (!isObject(answer)) return broken(`answered ${shown(answer)} where an object with a status is needed`);
  const { status, message } = answer;
  if (!isErrorStatus(status)) return broken(`answered status ${shown(status)}, which is not an ErrorStatus`);
  if (status === ErrorStatus.NONE) return done;
  return typeof message !== "string" ? { status } : { status, message };
}

/** Whether a value has fields, all of which may be anything. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** A value of any kind, in a few words. Never throws. */
export function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return textOf(value);
  return Array.isArray(value) ? `an array of ${value.length}` : "an object";
}
