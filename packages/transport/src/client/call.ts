/** One call of a session with the memories that it uses. */
import { ErrorStatus, type Hints, type Outcome } from "@nnhal/types";
import { decode, encode, Unwritable } from "@nnhal/utils/codec";
import { textOf } from "../protocol/frames.ts";
import type { Method } from "../protocol/methods.ts";
import { Refused } from "../protocol/refused.ts";
import type { MemoryUse } from "./arguments.ts";
import type { Session } from "./session.ts";

/** A call, before it is sent. */
export interface Prepared<Arguments> {
  readonly given: Arguments;
  /** Default: none. */
  readonly use?: MemoryUse;
}

/**
 * Calls a method. `prepare` reads the caller's arguments, which can be any values: it may throw, and the answer is
 * INVALID_ARGUMENT then. Never rejects.
 */
export async function callWith<Arguments, Result extends { readonly outcome: Outcome }>(
  { connection, waitOnRelease: during }: Session,
  method: Method<Arguments, Result>,
  object: number,
  prepare: () => Prepared<Arguments>,
): Promise<Result> {
  const refuse = (error: unknown) => {
    if (error instanceof Refused) return method.answerFailure(error.outcome);
    // Any other error comes from malformed arguments, or from the caller's own code.
    const why = error instanceof Unwritable ? error.message : "the arguments cannot be read";
    return method.answerFailure({ status: ErrorStatus.INVALID_ARGUMENT, message: `${method.name}: ${why}` });
  };
  let prepared: Prepared<Arguments>;
  let stored: Promise<void> | undefined;
  try {
    prepared = prepare();
    stored = prepared.use?.store();
    // The caller can change its arguments once the method has returned.
    if (stored !== undefined)
      prepared = { ...prepared, given: decode(method.arguments, encode(method.arguments, prepared.given)) };
  } catch (error) {
    return refuse(error);
  }
  const { given } = prepared;
  let answer: Promise<Result> | undefined;
  if (stored === undefined) answer = connection.call(method, object, given);
  else
    await during(
      stored.then(() => {
        answer = connection.call(method, object, given);
      }),
    );
  const result =
    (await answer) ?? method.answerFailure({ status: ErrorStatus.GENERAL_FAILURE, message: "it was not sent" });
  if (result.outcome.status !== ErrorStatus.NONE) return result;
  try {
    prepared.use?.load();
    return result;
  } catch (error) {
    const message = `${method.name}: the outputs cannot be read: ${textOf(error)}`;
    return method.answerFailure({ status: ErrorStatus.GENERAL_FAILURE, message });
  }
}

/**
 * Calls a method with hints and padding if the server knows it, and without them otherwise: a driver may ignore both. See `callWith`.
 */
export function callWithConfig<Arguments, Result extends { readonly outcome: Outcome }>(
  session: Session,
  plain: Method<Arguments, Result>,
  newer: Method<Arguments & { readonly hints: Hints | undefined }, Result>,
  object: number,
  readHints: () => Hints | undefined,
  prepare: () => Prepared<Arguments>,
): Promise<Result> {
  let hints: Hints | undefined;
  try {
    hints = readHints();
  } catch (error) {
    return callWith(session, plain, object, () => {
      throw error;
    });
  }
  if (session.welcome.version < 2) return callWith(session, plain, object, prepare);
  return callWith(session, newer, object, () => {
    const { given, ...use } = prepare();
    return { given: { ...given, hints }, ...use };
  });
}
