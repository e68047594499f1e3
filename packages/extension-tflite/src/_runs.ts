/**
 * Copies runs of elements: many short ones, or a few long ones.
 */
import type { Phase, TensorData } from "@nnhal/operations";

/** Work to find a run, in elements that are copied meanwhile. */
export const WORK_OF_A_RUN = 8;

/** Runs of fewer elements are copied one by one, since a view on them takes longer. */
const shortRun = 32;
/** Runs of more elements are copied in parts. */
const longRun = 1 << 20;

/** The cost of a run as a unit of a phase. */
export function costOfRun(length: number): number {
  return 4 * WORK_OF_A_RUN + length / 4;
}

/** target[to + i] = source[from + i] for i within the length. */
export function copyWholeRun(source: TensorData, from: number, length: number, target: TensorData, to: number): void {
  if (length < shortRun) for (let index = 0; index < length; index++) target[to + index] = source[from + index];
  else target.set(source.subarray(from, from + length), to);
}

/**
 * Copies `count` runs of one length, run i from `fromOf(i)` to `toOf(i)`. A unit is a run, or a part of a long one.
 */
export function copyRuns(
  count: number,
  length: number,
  source: TensorData,
  fromOf: (run: number) => number,
  target: TensorData,
  toOf: (run: number) => number,
): Phase {
  const parts = Math.max(1, Math.ceil(length / longRun));
  const compute = (first: number, end: number) => {
    for (let unit = first; unit < end; unit++) {
      const run = Math.floor(unit / parts);
      const skipped = (unit % parts) * longRun;
      copyWholeRun(source, fromOf(run) + skipped, Math.min(longRun, length - skipped), target, toOf(run) + skipped);
    }
  };
  return { units: count * parts, cost: costOfRun(Math.min(length, longRun)), compute };
}
