/**
 * How an end of a ring waits: it polls for a while, because sleeping and waking take longer than most requests, and
 * then sleeps.
 */
import { soon } from "@nnhal/backend";
import type { RingEnd } from "./ring.ts";

/** Polls for an event of the other end. */
export interface Poller {
  /** Polls for a while, or only once if polling has not paid off recently. */
  poll<T>(look: () => T | undefined): T | undefined;
}

/** Maximum number of waits in a row that poll only once. */
const mostSkipped = 64;

/**
 * Polls for some microseconds; 0 polls once. Polling does not pay off if the other end needs the same processor or
 * takes much longer: each unsuccessful poll doubles the number of waits without polling, a successful one resets it.
 */
export function createPoller(microseconds: number): Poller {
  let skip = 0;
  let skipped = 0;
  return {
    poll(look) {
      const seen = look();
      if (seen !== undefined || microseconds <= 0) return seen;
      if (skipped < skip) {
        skipped++;
        return undefined;
      }
      const late = lookFor(look, microseconds);
      skipped = 0;
      skip = late === undefined ? Math.min(mostSkipped, Math.max(1, skip * 2)) : 0;
      return late;
    },
  };
}

function lookFor<T>(look: () => T | undefined, microseconds: number): T | undefined {
  const end = performance.now() + microseconds / 1000;
  do {
    // Reading the clock takes as long as several polls.
    for (let count = 0; count < 16; count++) {
      const seen = look();
      if (seen !== undefined) return seen;
    }
  } while (performance.now() < end);
  return undefined;
}

/** Sleeps at an end of a ring until `look` returns a value. */
export async function sleepUntil<T>(end: RingEnd, look: () => T | undefined, turns: Turns): Promise<T> {
  for (;;) {
    let seen = look();
    if (seen !== undefined) return seen;
    await end.sleep(() => {
      seen = look();
      return seen !== undefined;
    });
    seen ??= look();
    if (seen !== undefined) return seen;
    // Woken without a result, or after blocking: the cause can be a message of the thread.
    await turns.give();
  }
}

/**
 * Turns of a thread's event loop. Work that is found by polling and never waits would otherwise block messages and
 * timers for ever.
 */
export interface Turns {
  /** Whether the event loop has had no turn for a while. */
  areDue(): boolean;
  /** Gives the event loop a turn. */
  give(): Promise<void>;
}

/** Turns that are due every few milliseconds. */
export function createTurns(milliseconds: number): Turns {
  let last = performance.now();
  return {
    areDue: () => performance.now() - last >= milliseconds,
    give: () =>
      new Promise((resolve) =>
        soon(() => {
          last = performance.now();
          resolve();
        }),
      ),
  };
}
