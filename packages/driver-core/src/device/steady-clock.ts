/** The steady clock of this process, in nanoseconds: the default clock for deadlines and durations. */
export function steadyClock(): bigint {
  return process.hrtime.bigint();
}
