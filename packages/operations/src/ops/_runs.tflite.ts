/**
 * Copies runs of elements: many short ones, or a few long ones.
 */
import type { Phase } from "../phases.ts";
import type { TensorData } from "../tensor.ts";
import { copyWholeRun, costOfRun } from "./_runs.ts";

/** Runs of more elements are copied in parts. */
const longRun = 1 << 20;

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
