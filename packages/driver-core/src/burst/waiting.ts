/**
 * How an end of a ring waits: it looks again and again for a while, since sleeping and being woken takes longer than most
 * requests, and then sleeps.
 */
import type { RingEnd } from "./ring.ts";

/** Looks for something that somebody else is about to do. */
export interface Poller {
  /** Looks again and again for a while; once, where looking longer has been in vain lately. */
  poll<T>(look: () => T | undefined): T | undefined;
}

/** After so many vain attempts in a row, one in as many waits looks for longer than once. */
const mostSkipped = 64;

/**
 * Polls for some microseconds; 0 looks once. Where the other end needs the processor that polling takes, or needs much
 * longer, each vain attempt doubles the number of waits that do without; one that sees something resets it.
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
    // Asking for the time takes as long as some looks.
    for (let count = 0; count < 16; count++) {
      const seen = look();
      if (seen !== undefined) return seen;
    }
  } while (performance.now() < end);
  return undefined;
}

/** Sleeps at an end of a ring until there is something to see. */
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
    // Woken for nothing, or after blocking: the news may be among the thread's messages.
    await turns.give();
  }
}

/**
 * Turns of a thread's event loop. Work that is found by polling, and awaits nothing that takes time, would otherwise keep
 * messages and timers out for ever.
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
        setImmediate(() => {
          last = performance.now();
          resolve();
        }),
      ),
  };
}
