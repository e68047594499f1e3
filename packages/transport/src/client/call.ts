/** One call of a session with the memories that it uses. */
import { ErrorStatus, type Outcome } from "@nnhal/types";
import { decode, encode } from "@nnhal/utils/codec";
import { textOf } from "../protocol/connection.ts";
import type { Method } from "../protocol/methods.ts";
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
  { connection }: Session,
  method: Method<Arguments, Result>,
  object: number,
  prepare: () => Prepared<Arguments>,
): Promise<Result> {
  const refuse = (error: unknown) =>
    method.failed({ status: ErrorStatus.INVALID_ARGUMENT, message: `${method.name}: ${textOf(error)}` });
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
  await stored;
  const result = await connection.call(method, object, prepared.given);
  if (result.outcome.status !== ErrorStatus.NONE) return result;
  try {
    prepared.use?.load();
    return result;
  } catch (error) {
    const message = `${method.name}: the outputs cannot be read: ${textOf(error)}`;
    return method.failed({ status: ErrorStatus.GENERAL_FAILURE, message });
  }
}
