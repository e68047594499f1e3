/**
 * Waiting for an engine, which may take longer than anyone wants to wait, or for ever.
 */
import { ErrorStatus } from "@nnhal/types";
import { callAt, type Timer } from "../schedule/timer.ts";
import type { Client } from "./client.ts";
import type { Refusal } from "./refusal.ts";

/** How long to wait for an engine. */
export interface Patience {
  readonly now: () => bigint;
  readonly timer: Timer;
  /** Time on the clock `now` after which nothing is waited for. Undefined: none. */
  readonly deadline: bigint | undefined;
  /** For whom: nothing is waited for once it is halted. */
  readonly client: Pick<Client, "onHalt">;
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
export function settleWithin<Value>(
  promise: Promise<Value>,
  { now, timer, deadline, client, missed }: Patience,
): Promise<Waited<Value>> {
  return new Promise((resolve) => {
    let isOver = false;
    let tellLate: ((settled: Settled<Value>) => void) | undefined;
    let cancel: (() => void) | undefined;
    let forget: (() => void) | undefined;
    const end = (waited: Waited<Value>) => {
      isOver = true;
      cancel?.();
      forget?.();
      resolve(waited);
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
    forget = client.onHalt(giveUp);
    if (deadline !== undefined && !isOver) {
      cancel = callAt(deadline, now, timer, () => giveUp(missedDeadline(missed)));
    }
    // Whichever called back at once came before it could be cancelled.
    if (isOver) {
      cancel?.();
      forget();
    }
  });
}
