/** Detects that an object has been idle for a while, at almost no cost for each use. */
import type { Timer } from "./timer.ts";

/** Watches the uses of one object. */
export interface IdleWatch {
  /** Call it when a use begins and when it ends. */
  touch(): void;
  /** Ends the watch. */
  stop(): void;
}

/** Options of an idle watch. */
export interface IdleWatchOptions {
  /** Nanoseconds without a use after which it is idle; detected after at most twice as many. */
  readonly after: bigint;
  readonly timer: Timer;
  /** Returns whether a use is under way. */
  readonly isInUse: () => boolean;
  /** Called once for each idle period after a use. */
  readonly onIdle: () => void;
}

/** Watches an object that has not been used yet. Does not keep the process alive. */
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
