/**
 * Limits for waits that usually end soon: one timer for all of them, which runs only during waits, so that a wait costs
 * almost nothing.
 */
import type { Timer } from "@nnhal/utils/time";

/** See the file's head. */
export interface Watchdog {
  /**
   * Calls `look` once per interval until the returned function is called. `elapsed`: a lower bound of the nanoseconds
   * that have passed; up to one interval more can have passed.
   */
  watch(look: (elapsed: bigint) => void): () => void;
  /**
   * Settles as a promise does, or with `late()` if the promise has not settled after `limit` nanoseconds. The limit is
   * detected at most two intervals later. A later settlement of the promise is ignored.
   */
  within<T>(promise: Promise<T>, limit: bigint, late: () => T): Promise<T>;
  /** Ends all watches. */
  stop(): void;
}

/** Options of a watchdog. */
export interface WatchdogOptions {
  /** Nanoseconds between two checks. */
  readonly interval: bigint;
  readonly timer: Timer;
}

/** A watchdog without watches. Does not keep the process alive. */
export function createWatchdog({ interval, timer }: WatchdogOptions): Watchdog {
  const watched = new Set<{ looks: bigint; readonly look: (elapsed: bigint) => void }>();
  let cancel: (() => void) | undefined;
  let isStopped = false;
  const lookAtAll = () => {
    cancel = undefined;
    for (const entry of [...watched]) {
      // The first check can run immediately, so it does not count as an interval.
      if (watched.has(entry)) entry.look(interval * entry.looks++);
    }
    if (watched.size > 0) arm();
  };
  const arm = () => {
    if (cancel === undefined && !isStopped) cancel = timer(interval, lookAtAll, true);
  };
  const watch: Watchdog["watch"] = (look) => {
    const entry = { looks: 0n, look };
    watched.add(entry);
    arm();
    return () => watched.delete(entry);
  };
  return {
    watch,
    within: (promise, limit, late) =>
      new Promise((resolve, reject) => {
        const done = watch((elapsed) => {
          if (elapsed < limit) return;
          done();
          resolve(late());
        });
        promise.then(
          (value) => {
            done();
            resolve(value);
          },
          (error) => {
            done();
            reject(error);
          },
        );
      }),
    stop() {
      isStopped = true;
      cancel?.();
      cancel = undefined;
      watched.clear();
    },
  };
}
