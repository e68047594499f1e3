/** The steady clock of this process, in nanoseconds: the default clock for deadlines and durations. */
export const steadyClock: () => bigint = globalThis.process?.hrtime?.bigint ?? pageClock;

/** The clock of a browser. It is the same for a page and its workers. */
function pageClock(): bigint {
  return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6));
}
