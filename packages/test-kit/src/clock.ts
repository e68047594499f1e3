/**
 * A clock that a test sets, and a timer on it.
 */

/** Calls back after some nanoseconds; returns a cancel function. */
type Timer = (nanoseconds: bigint, callback: () => void) => () => void;

/** A clock, and the calls that wait for a time on it. */
export interface ManualClock {
  readonly now: () => bigint;
  readonly timer: Timer;
  /** Moves the clock on, and calls back everything that waited for a time up to then. */
  advance(nanoseconds: bigint): void;
  /** The number of calls that wait. */
  readonly waiting: number;
}

/** A clock that starts at `start` and stands still until it is moved. */
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
