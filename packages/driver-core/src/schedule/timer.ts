/**
 * Waiting for a point in time, injected beside the clock so that tests decide what time it is.
 */

/** Calls back after at least some nanoseconds, or a little before where rounding has it; gives what cancels it. */
export type Timer = (nanoseconds: bigint, callback: () => void) => () => void;

/** As far as a timeout of the system reaches, in milliseconds. */
const furthest = 2 ** 31 - 1;

/** The system's timer. Keeps the process alive while it waits. */
export const systemTimer: Timer = (nanoseconds, callback) => {
  const milliseconds = nanoseconds / 1_000_000n + 1n;
  const timeout = setTimeout(callback, milliseconds < BigInt(furthest) ? Number(milliseconds) : furthest);
  return () => clearTimeout(timeout);
};

/** Calls back once the clock has reached a point in time, never before; gives what cancels it. */
export function callAt(time: bigint, now: () => bigint, timer: Timer, callback: () => void): () => void {
  let cancel = () => {};
  const arm = () => {
    const left = time - now();
    if (left <= 0n) callback();
    else cancel = timer(left, arm);
  };
  arm();
  return () => cancel();
}
