/**
 * Runs a model several times and keeps the times.
 */
import { elementAt } from "@nnhal/operations";
import type { OutputValue, PreparedRun } from "./execute.ts";
import { runOnce } from "./execute.ts";

/** Milliseconds. */
export interface Latency {
  /** Importing and compiling the model. */
  readonly prepare: number;
  /** The first run, which may include work that later runs do not repeat. */
  readonly first: number;
  /** The fastest of the runs after the first; the first if it is the only one. */
  readonly min: number;
  /** The median of the same runs. */
  readonly median: number;
}

export interface MeasureOptions {
  /** Number of runs after the first. */
  readonly runs: number;
  now(): number;
  onRun?(done: number): void;
}

/** The outputs of the last run, and the times of all. */
export async function measureRuns(
  prepared: PreparedRun,
  inputs: readonly Uint8Array[],
  { runs, now, onRun }: MeasureOptions,
): Promise<{ readonly outputs: readonly OutputValue[]; readonly latency: Omit<Latency, "prepare"> }> {
  const timed = async () => {
    const start = now();
    const outputs = await runOnce(prepared, inputs);
    return { outputs, time: now() - start };
  };
  let { outputs, time: first } = await timed();
  onRun?.(1);
  const times: number[] = [];
  for (let run = 0; run < runs; run++) {
    const later = await timed();
    outputs = later.outputs;
    times.push(later.time);
    onRun?.(run + 2);
  }
  const counted = times.length === 0 ? [first] : times;
  return { outputs, latency: { first, min: Math.min(...counted), median: median(counted) } };
}

/** The middle value, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? elementAt(sorted, middle)
    : (elementAt(sorted, middle - 1) + elementAt(sorted, middle)) / 2;
}
