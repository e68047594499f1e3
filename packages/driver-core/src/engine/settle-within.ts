/** Waiting for an engine, which can take too long or for ever. */

import { ErrorStatus } from "@nnhal/types";
import { callAt, callSoon, type Timer } from "@nnhal/utils/time";
import type { Refusal } from "../guard/refusal.ts";
import type { Halting } from "./client.ts";

/** Limits of the wait for an engine. */
export interface Patience {
  readonly now: () => bigint;
  readonly timer: Timer;
  /** Time on the clock `now` at which the wait ends. Undefined: no deadline. */
  readonly deadline: bigint | undefined;
  /** The client: the wait ends when it is halted. */
  readonly client: Halting;
  /** The message for a missed deadline, such as `the deadline passed during the execution`. */
  readonly missed: string;
}

/** Outcome of a promise. */
export type Settled<Value> = { readonly value: Value } | { readonly error: unknown };

/** Outcome of a promise, or the reason why the wait ended, with a promise of the outcome. */
export type Waited<Value> = Settled<Value> | { readonly refusal: Refusal; readonly late: Promise<Settled<Value>> };

/** The refusal of work that has not ended by its deadline. */
export function missedDeadline(message: string): Refusal {
  return { status: ErrorStatus.MISSED_DEADLINE_TRANSIENT, message };
}

/** Waits for a promise of an engine. Never rejects. */
export function settleWithin<Value>(promise: Promise<Value>, patience: Patience): Promise<Waited<Value>> {
  return new Promise((resolve) => whenSettled(promise, patience, resolve));
}

/** Calls back once with the result of `settleWithin`; not before it returns, unless the time is already over. */
export function whenSettled<Value>(
  promise: Promise<Value>,
  patience: Patience,
  callback: (waited: Waited<Value>) => void,
): void {
  const { client } = patience;
  const wait: Wait<Value> = new Wait(client, callback);
  promise.then(
    (value) => wait.settle({ value }),
    (error) => wait.settle({ error }),
  );
  client.onHalt(wait);
  if (patience.deadline !== undefined) endAtDeadline(wait, patience, patience.deadline);
}

/** A separate function: as a closure it would also be made for each wait without a deadline. */
function endAtDeadline<Value>(wait: Wait<Value>, { now, timer, missed }: Patience, deadline: bigint): void {
  afterTurn(() => {
    if (wait.isOver) return;
    const cancel = callAt(deadline, { now, timer }, () => wait.giveUp(missedDeadline(missed)));
    // The deadline can have passed before there was a timer to cancel.
    if (!wait.isOver) wait.cancel = cancel;
  });
}

/** Tasks for the end of this turn of the event loop. */
let atEnd: (() => void)[] = [];

/**
 * Runs a task at the end of this turn of the event loop. An engine that answers within the turn needs no timer, which
 * would cost as much as a small execution.
 */
function afterTurn(work: () => void): void {
  atEnd.push(work);
  if (atEnd.length > 1) return;
  callSoon(() => {
    const all = atEnd;
    atEnd = [];
    for (const each of all) each();
  });
}

/** One wait for a promise. A class, because every execution makes one: closures would cost more. */
class Wait<Value> {
  isOver = false;
  cancel: (() => void) | undefined;
  #tellLate: ((settled: Settled<Value>) => void) | undefined;
  readonly #client: Halting;
  readonly #callback: (waited: Waited<Value>) => void;

  constructor(client: Halting, callback: (waited: Waited<Value>) => void) {
    this.#client = client;
    this.#callback = callback;
  }

  settle(settled: Settled<Value>): void {
    if (this.isOver) this.#tellLate?.(settled);
    else this.#end(settled);
  }

  giveUp(refusal: Refusal): void {
    if (this.isOver) return;
    const late = new Promise<Settled<Value>>((settle) => {
      this.#tellLate = settle;
    });
    this.#end({ refusal, late });
  }

  #end(waited: Waited<Value>): void {
    this.isOver = true;
    this.cancel?.();
    this.#client.forgetHalt(this);
    this.#callback(waited);
  }
}
