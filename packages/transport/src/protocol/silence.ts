/** The watch over a peer: while calls wait for it, it must show signs of life, and is asked for one. */
import type { Timer } from "@nnhal/utils/time";

/** Options of a watch. */
export interface SilenceOptions {
  readonly timer: Timer;
  /**
   * Nanoseconds without a sign of life from the peer, while a call waits for it, after which it is gone. Time in which this thread was
   * itself stopped does not count.
   */
  readonly silenceLimit: bigint;
}

/** See the file's head. */
export interface SilenceWatch {
  /** Begins, if a call waits. The timer keeps the process alive until `end`. */
  start(): void;
  /** Notes a sign of life. */
  reset(): void;
  end(): void;
}

const looks = 4n;

/** `isWaiting`: returns true while a call waits. `ping`: asks for a sign of life. `onSilent`: called once, when the peer is gone. */
export function watchSilence(
  { timer, silenceLimit }: SilenceOptions,
  isWaiting: () => boolean,
  ping: () => void,
  onSilent: (milliseconds: bigint) => void,
): SilenceWatch {
  const step = silenceLimit / looks > 0n ? silenceLimit / looks : 1n;
  let isHeard = false;
  /** Cancels the timer; undefined while there is none. */
  let cancel: (() => void) | undefined;
  return {
    start() {
      if (cancel !== undefined || !isWaiting()) return;
      isHeard = false;
      // Looks are counted, not the time between them: a process that was stopped finds its peer's answers only after it looks.
      let silent = 0n;
      const look = () => {
        silent = isHeard ? 0n : silent + 1n;
        isHeard = false;
        if (silent >= looks) return onSilent((silent * step) / 1_000_000n);
        if (silent > 0n) ping();
        // The ping can have ended the connection.
        if (cancel !== undefined) cancel = timer(step, look);
      };
      cancel = timer(step, look);
    },
    reset() {
      isHeard = true;
    },
    end() {
      cancel?.();
      cancel = undefined;
    },
  };
}
