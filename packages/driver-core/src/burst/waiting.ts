/**
 * How an end of a ring waits: it looks again and again for a while, since sleeping and being woken takes longer than most
 * requests, and then sleeps.
 */
import type { RingEnd } from "./ring.ts";

/** Looks again and again for some microseconds. Looks once where that is 0. */
export function poll<T>(look: () => T | undefined, microseconds: number): T | undefined {
  let seen = look();
  if (seen !== undefined || microseconds <= 0) return seen;
  const end = performance.now() + microseconds / 1000;
  do {
    // Asking for the time takes as long as some looks.
    for (let count = 0; count < 16; count++) {
      seen = look();
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
