/** The clock, which tests replace. */

/** Returns the time and calls back. */
export interface Clock {
  /** Returns milliseconds since some moment. */
  now(): number;
  /** Calls once after some milliseconds; the result cancels it. */
  after(milliseconds: number, call: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, call) {
    // Longer times overflow.
    const timer = setTimeout(call, Math.min(milliseconds, 2 ** 31 - 1));
    return () => clearTimeout(timer);
  },
};
