/**
 * Statistics of times: least, median, 90th percentile, and the ratio of two contestants with its spread.
 */
import { elementAt } from "@nnhal/operations";

/** Milliseconds of many executions. */
export interface Times {
  /** Number of executions that were timed. At least 1. */
  readonly executions: number;
  readonly min: number;
  readonly median: number;
  readonly p90: number;
}

/** Comparison of two contestants: the time of the first divided by that of the second, so less than 1 means that the first is faster. */
export interface Ratio {
  /** Of the ratios of single rounds. */
  readonly median: number;
  /** The 10th percentile of the ratios of single rounds. */
  readonly low: number;
  /** The 90th percentile of the ratios of single rounds. */
  readonly high: number;
  /** The least time of the one, divided by the least of the other. */
  readonly ofMinima: number;
}

/** Milliseconds by which the first of two contestants takes longer than the second. */
export interface Difference {
  /** Of the differences of single rounds. */
  readonly median: number;
  /** The 10th percentile of the differences of single rounds. */
  readonly low: number;
  /** The 90th percentile of the differences of single rounds. */
  readonly high: number;
  /** The least time of the one, less the least of the other. */
  readonly ofMinima: number;
}

/** The value below which a share of all values lies; between two values, in proportion. `values`: not empty, in any order. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const below = elementAt(sorted, Math.floor(place));
  return below + (elementAt(sorted, Math.ceil(place)) - below) * (place - Math.floor(place));
}

/** The statistics of the times of all rounds. Undefined if there are none. */
export function timesOf(rounds: readonly (readonly number[])[]): Times | undefined {
  const all = rounds.flat();
  if (all.length === 0) return undefined;
  return { executions: all.length, min: Math.min(...all), median: quantile(all, 0.5), p90: quantile(all, 0.9) };
}

/** The times of a contestant by round. */
type Rounds = readonly (readonly number[])[];

/**
 * The ratio of two contestants. Each round yields one ratio of medians, so what disturbs the machine for longer than a round hits both.
 * Rounds that only one of them has done are left out. Undefined if no round is left.
 */
export function ratioOf(ours: Rounds, theirs: Rounds): Ratio | undefined {
  return compare(ours, theirs, (one, other) => one / other);
}

/** The difference of two contestants, by round as for ratios. */
export function differenceOf(ours: Rounds, theirs: Rounds): Difference | undefined {
  return compare(ours, theirs, (one, other) => one - other);
}

function compare(ours: Rounds, theirs: Rounds, compared: (one: number, other: number) => number): Ratio | undefined {
  const rounds = Math.min(ours.length, theirs.length);
  if (rounds === 0) return undefined;
  const each = Array.from({ length: rounds }, (_, round) =>
    compared(quantile(elementAt(ours, round), 0.5), quantile(elementAt(theirs, round), 0.5)),
  );
  const least = (list: Rounds) => Math.min(...list.slice(0, rounds).flat());
  return {
    median: quantile(each, 0.5),
    low: quantile(each, 0.1),
    high: quantile(each, 0.9),
    ofMinima: compared(least(ours), least(theirs)),
  };
}
