/**
 * Waits for a point in time. Injected together with the clock, so that tests control the time.
 */

/**
 * Calls back after about `nanoseconds` (it can fire slightly early because of rounding). Returns a cancel function.
 * `inBackground`: does not keep the process alive. Default: false.
 */
export type Timer = (nanoseconds: bigint, callback: () => void, inBackground?: boolean) => () => void;

/** The longest timeout of the system, in milliseconds. */
const furthest = 2 ** 31 - 1;

/** The system's timer. */
export const systemTimer: Timer = (nanoseconds, callback, inBackground = false) => {
  const milliseconds = nanoseconds / 1_000_000n + 1n;
  const timeout = setTimeout(callback, milliseconds < BigInt(furthest) ? Number(milliseconds) : furthest);
  // A browser's is a number, and keeps nothing alive.
  if (inBackground && typeof timeout === "object") timeout.unref();
  return () => clearTimeout(timeout);
};

/** A clock, and waits on it. */
export interface Clock {
  /** The steady clock that deadlines are times on, in nanoseconds. */
  readonly now: () => bigint;
  readonly timer: Timer;
}

/** Calls back when the clock has reached a point in time, never earlier; immediately if it has. Returns a cancel function. */
export function callAt(time: bigint, { now, timer }: Clock, callback: () => void): () => void {
  let cancel = () => {};
  const arm = () => {
    const left = time - now();
    if (left <= 0n) callback();
    else cancel = timer(left, arm);
  };
  arm();
  return () => cancel();
}

/** The same, but never in this turn of the event loop. */
export function callAfter(time: bigint, clock: Clock, callback: () => void): () => void {
  const left = time - clock.now();
  let cancel = clock.timer(left > 0n ? left : 1n, () => {
    cancel = callAt(time, clock, callback);
  });
  return () => cancel();
}
