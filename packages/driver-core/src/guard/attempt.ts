/**
 * Calls of foreign code: the caller always gets an answer. A thrown value, a rejection and an answer that breaks a rule are
 * failures of the same kind.
 */
import type { Outcome } from "@nnhal/types";
import { BrokenAnswer } from "@nnhal/validation";
import { failure, invalid, messageOf, type Refusal } from "./refusal.ts";

/** GENERAL_FAILURE for an error thrown while a method was called or its answer was read. `what`: names the method. */
export function failureOf(what: string, error: unknown): Refusal {
  return failure(`${what} ${error instanceof BrokenAnswer ? error.message : `threw: ${messageOf(error)}`}`);
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

/** The refusal that a check of arguments returns. If the check throws, an argument cannot be read. */
export function refuseUnreadable(check: () => Outcome | undefined): Outcome | undefined {
  try {
    return check();
  } catch (error) {
    return invalid(`the arguments cannot be read: ${messageOf(error)}`);
  }
}

/** Closes an object of foreign code. Its errors and rejections go to `log`; by default they are ignored. */
export function closeSafely(closable: { close?(): unknown }, log: (message: string) => void = () => {}): void {
  void attemptAsync(
    "close",
    async () => {
      await closable.close?.();
    },
    ({ message }) => log(message),
  );
}

/**
 * The answer of a synchronous method. A promise is not a valid answer, and its rejection, which is not handled anywhere
 * else, must not end the process.
 */
export function atOnce<Answer>(answer: Answer): Answer {
  if (answer instanceof Promise) answer.catch(() => {});
  return answer;
}
