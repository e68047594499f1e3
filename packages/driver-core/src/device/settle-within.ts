/**
 * Waiting for an engine, which may take longer than anyone wants to wait, or for ever.
 */
import { ErrorStatus } from "@nnhal/types";
import { callAt, type Timer } from "../schedule/timer.ts";
import type { Halting } from "./client.ts";
import type { Refusal } from "./refusal.ts";

/** How long to wait for an engine. */
export interface Patience {
  readonly now: () => bigint;
  readonly timer: Timer;
  /** Time on the clock `now` after which nothing is waited for. Undefined: none. */
  readonly deadline: bigint | undefined;
  /** For whom: nothing is waited for once it is halted. */
  readonly client: Halting;
  /** What the deadline is missed by, such as `the deadline passed during the execution`. */
  readonly missed: string;
}

/** How a promise was settled. */
export type Settled<Value> = { readonly value: Value } | { readonly error: unknown };

/** How a promise was settled, or why it is not waited for any longer, and how it is settled then. */
export type Waited<Value> = Settled<Value> | { readonly refusal: Refusal; readonly late: Promise<Settled<Value>> };

/** The refusal of work that has not ended by its deadline. */
export function missedDeadline(message: string): Refusal {
  return { status: ErrorStatus.MISSED_DEADLINE_TRANSIENT, message };
}

/** Waits for a promise of an engine. Never rejects. */
export function settleWithin<Value>(promise: Promise<Value>, patience: Patience): Promise<Waited<Value>> {
  return new Promise((resolve) => whenSettled(promise, patience, resolve));
}

/** Calls back once, with what `settleWithin` would resolve with. */
export function whenSettled<Value>(
  promise: Promise<Value>,
  { now, timer, deadline, client, missed }: Patience,
  callback: (waited: Waited<Value>) => void,
): void {
  let isOver = false;
  let tellLate: ((settled: Settled<Value>) => void) | undefined;
  let cancel: (() => void) | undefined;
  const end = (waited: Waited<Value>) => {
    isOver = true;
    cancel?.();
    client.forgetHalt(giveUp);
    callback(waited);
  };
  const giveUp = (refusal: Refusal) => {
    if (isOver) return;
    const late = new Promise<Settled<Value>>((settle) => {
      tellLate = settle;
    });
    end({ refusal, late });
  };
  const settled = (how: Settled<Value>) => {
    if (isOver) tellLate?.(how);
    else end(how);
  };
  promise.then(
    (value) => settled({ value }),
    (error) => settled({ error }),
  );
  client.onHalt(giveUp);
  if (deadline === undefined || isOver) return;
  const stop = callAt(deadline, now, timer, () => giveUp(missedDeadline(missed)));
  // The deadline may have come before there was anything to cancel.
  if (!isOver) cancel = stop;
}
