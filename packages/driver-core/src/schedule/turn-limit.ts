/**
 * Yielding to the event loop. Executions that an engine answers at once follow one another within one turn of the event
 * loop: timers, other clients and input would wait as long as a client keeps executing.
 */
import { callSoon } from "@nnhal/utils/time";

/** Measures how long a turn of the event loop has lasted. */
export interface TurnLimit {
  /** Returns true if this turn has reached its limit. `time`: now, in nanoseconds, on a clock that never goes back. */
  isSpent(time: bigint): boolean;
}

/** A turnLimit with a limit of nanoseconds for each turn. Default: 10 ms. */
export function createTurnLimit(longest = 10_000_000n): TurnLimit {
  /** When this turn reaches its limit; undefined before the first call in a turn. */
  let until: bigint | undefined;
  const endTurn = () => {
    until = undefined;
  };
  return {
    isSpent(time) {
      if (until !== undefined) return time >= until;
      until = time + longest;
      callSoon(endTurn);
      return false;
    },
  };
}
