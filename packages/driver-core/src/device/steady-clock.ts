/**
 * The steady clock of this process, in nanoseconds: what deadlines and durations are counted on unless another is given.
 */
export function steadyClock(): bigint {
  return process.hrtime.bigint();
}
