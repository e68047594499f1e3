/**
 * The waiting of a ring's end: it polls for a while, and blocks its thread for a moment, because sleeping without blocking and
 * waking take longer than most requests. Then it sleeps.
 */
import { callSoon } from "@nnhal/utils/time";
import type { RingEnd, RingReader } from "./ring.ts";

/** Waits for an event of the other end without the event loop. */
export interface Poller {
  /** Polls and dozes for a while, or looks only once if that has not paid off recently. */
  poll<T>(look: () => T | undefined): T | undefined;
}

/** Maximum number of waits in a row that do not try something that was unsuccessful. */
const mostSkipped = 64;
/** Milliseconds that a thread dozes at most: as long as several short executions, and too short to be noticed. */
const longestDoze = 0.5;

/**
 * Polls for some microseconds, and then dozes at `end` for a moment, if it can; 0 polls once. Neither pays off if the other end takes
 * much longer, nor polling if it needs the same processor: each unsuccessful attempt doubles the number of waits without one, a
 * successful one resets it.
 */
export function createPoller(microseconds: number, end: Pick<RingReader, "doze"> = {}): Poller {
  const { doze } = end;
  const spin = worthwhile();
  const rest = worthwhile();
  return {
    poll(look) {
      const seen = look();
      if (seen !== undefined || microseconds <= 0) return seen;
      return spin(() => lookFor(look, microseconds)) ?? (doze && rest(() => dozeFor(look, doze)));
    },
  };
}

/** Makes attempts as long as they are successful, and now and then if they are not. */
function worthwhile(): <T>(attempt: () => T | undefined) => T | undefined {
  let skip = 0;
  let skipped = 0;
  return (attempt) => {
    if (skipped < skip) {
      skipped++;
      return undefined;
    }
    const seen = attempt();
    skipped = 0;
    skip = seen === undefined ? Math.min(mostSkipped, Math.max(1, skip * 2)) : 0;
    return seen;
  };
}

function dozeFor<T>(look: () => T | undefined, doze: NonNullable<RingReader["doze"]>): T | undefined {
  const end = performance.now() + longestDoze;
  let seen: T | undefined;
  const isReady = () => {
    seen = look();
    return seen !== undefined;
  };
  for (let left = longestDoze; seen === undefined && left > 0; left = end - performance.now()) {
    doze(isReady, left);
    seen ??= look();
  }
  return seen;
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
  /** Returns true if the event loop has had no turn for a while. */
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
        callSoon(() => {
          last = performance.now();
          resolve();
        }),
      ),
  };
}
