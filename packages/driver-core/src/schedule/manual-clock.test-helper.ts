/**
 * A clock that a test sets, and a timer on it.
 */
import type { Timer } from "./timer.ts";

/** What time it is, and what waits for which time. */
export interface ManualClock {
  readonly now: () => bigint;
  readonly timer: Timer;
  /** Moves the clock on; what waited for a time up to then is called back. */
  advance(nanoseconds: bigint): void;
  /** How many wait. */
  readonly waiting: number;
}

/** A clock that says `start`. */
export function manualClock(start = 0n): ManualClock {
  let time = start;
  const waiting = new Set<{ at: bigint; callback: () => void }>();
  return {
    now: () => time,
    timer(nanoseconds, callback) {
      const entry = { at: time + nanoseconds, callback };
      waiting.add(entry);
      return () => {
        waiting.delete(entry);
      };
    },
    advance(nanoseconds) {
      time += nanoseconds;
      for (const entry of [...waiting]) {
        if (entry.at > time || !waiting.delete(entry)) continue;
        entry.callback();
      }
    },
    get waiting() {
      return waiting.size;
    },
  };
}
