/**
 * Noticing that something has not been used for a while, at almost no cost for each use.
 */
import type { Timer } from "./timer.ts";

/** Watches the uses of one thing. */
export interface IdleWatch {
  /** It is used: called when a use begins and when it ends. */
  touch(): void;
  /** Nothing is told any more. */
  stop(): void;
}

/** What to watch. */
export interface IdleWatchOptions {
  /** Nanoseconds without a use after which it is idle; it is noticed after twice as many at the latest. */
  readonly after: bigint;
  readonly timer: Timer;
  /** Whether a use is under way. */
  readonly isInUse: () => boolean;
  /** Called once for each time that it has been used and is idle. */
  readonly onIdle: () => void;
}

/** Watches something that has not been used yet. Keeps no process alive. */
export function watchIdle({ after, timer, isInUse, onIdle }: IdleWatchOptions): IdleWatch {
  let cancel: (() => void) | undefined;
  let isTouched = false;
  let isStopped = false;
  const arm = () => {
    isTouched = false;
    cancel = timer(after, look, true);
  };
  const look = () => {
    cancel = undefined;
    if (isTouched || isInUse()) arm();
    else onIdle();
  };
  return {
    touch() {
      isTouched = true;
      if (cancel === undefined && !isStopped) arm();
    },
    stop() {
      isStopped = true;
      cancel?.();
      cancel = undefined;
    },
  };
}
