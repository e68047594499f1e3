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
  /** When this turn will have lasted as long as it may; undefined: nothing has been seen in it. */
  let until: bigint | undefined;
  const endTurn = () => {
    until = undefined;
  };
  return {
    pause(time) {
      if (until === undefined) {
        until = time + longest;
        setImmediate(endTurn);
        return undefined;
      }
      return time < until ? undefined : new Promise((resolve) => setImmediate(resolve));
    },
  };
}
