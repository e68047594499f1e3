/**
 * Letting others run. Executions that an engine answers at once follow one another without an end of the event loop's turn: timers,
 * other clients and input would wait as long as a client keeps executing.
 */

/** Notices how long a turn of the event loop has lasted. */
export interface Breather {
  /** Whether this turn has lasted as long as it may. `time`: now, in nanoseconds, on a clock that never goes back. */
  isSpent(time: bigint): boolean;
}

/** A breather that allows turns of so many nanoseconds. Default: 10 ms. */
export function createBreather(longest = 10_000_000n): Breather {
  /** When this turn will have lasted as long as it may; undefined: nothing has been seen in it. */
  let until: bigint | undefined;
  const endTurn = () => {
    until = undefined;
  };
  return {
    isSpent(time) {
      if (until !== undefined) return time >= until;
      until = time + longest;
      setImmediate(endTurn);
      return false;
    },
  };
}

/** Resolves in the next turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
