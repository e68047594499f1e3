/**
 * Yielding to the event loop. Executions that an engine answers at once follow one another within one turn of the event
 * loop: timers, other clients and input would wait as long as a client keeps executing.
 */
import { soon } from "@nnhal/backend";

/** Measures how long a turn of the event loop has lasted. */
export interface Breather {
  /** Returns true if this turn has reached its limit. `time`: now, in nanoseconds, on a clock that never goes back. */
  isSpent(time: bigint): boolean;
}

/** A breather with a limit of nanoseconds for each turn. Default: 10 ms. */
export function createBreather(longest = 10_000_000n): Breather {
  /** When this turn reaches its limit; undefined before the first call in a turn. */
  let until: bigint | undefined;
  const endTurn = () => {
    until = undefined;
  };
  return {
    isSpent(time) {
      if (until !== undefined) return time >= until;
      until = time + longest;
      soon(endTurn);
      return false;
    },
  };
}

/** Resolves in the next turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise(soon);
}
