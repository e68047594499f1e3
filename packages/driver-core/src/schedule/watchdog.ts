/**
 * Limits on waits that mostly end soon: one timer for all of them, which runs only while something is waited for, so that
 * a wait costs next to nothing.
 */
import type { Timer } from "./timer.ts";

/** See the file's head. */
export interface Watchdog {
  /**
   * Calls `look` once per interval until the returned function is called. `elapsed`: nanoseconds that have passed at least;
   * up to one interval more may have.
   */
  watch(look: (elapsed: bigint) => void): () => void;
  /**
   * Settles as a promise does, or with `late()` if the promise has not settled after `limit` nanoseconds. That is noticed
   * two intervals later at most. What the promise comes to afterwards is ignored.
   */
  within<T>(promise: Promise<T>, limit: bigint, late: () => T): Promise<T>;
  /** Looks at nothing any more. */
  stop(): void;
}

/** How often to look. */
export interface WatchdogOptions {
  /** Nanoseconds between two looks. */
  readonly interval: bigint;
  readonly timer: Timer;
}

/** A watchdog that looks at nothing yet. Keeps no process alive. */
export function createWatchdog({ interval, timer }: WatchdogOptions): Watchdog {
  const watched = new Set<{ looks: bigint; readonly look: (elapsed: bigint) => void }>();
  let cancel: (() => void) | undefined;
  let isStopped = false;
  const lookAtAll = () => {
    cancel = undefined;
    for (const entry of [...watched]) {
      // The first look may come at once: it proves no time.
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
