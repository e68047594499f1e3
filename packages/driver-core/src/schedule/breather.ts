/**
 * Letting others run. Executions that an engine answers at once follow one another without an end of the event loop's turn: timers,
 * other clients and input would wait as long as a client keeps executing.
 */

/** Notices how long a turn of the event loop has lasted. */
export interface Breather {
  /** Undefined: there is time. Else resolves in the next turn. `time`: now, on a steady clock, in nanoseconds. */
  pause(time: bigint): Promise<void> | undefined;
}

/** A breather that allows turns of so many nanoseconds. Default: 10 ms. */
export function createBreather(longest = 10_000_000n): Breather {
  /** When something was first seen in this turn; undefined: nothing has been. */
  let since: bigint | undefined;
  const endTurn = () => {
    since = undefined;
  };
  return {
    pause(time) {
      if (since === undefined) {
        since = time;
        setImmediate(endTurn);
        return undefined;
      }
      return time - since < longest ? undefined : new Promise((resolve) => setImmediate(resolve));
    },
  };
}
