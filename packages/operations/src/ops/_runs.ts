/**
 * Copies of runs of elements, which are short and many, or long and few.
 */
import type { TensorData } from "../tensor.ts";

/** Work to find a run, in elements that are copied meanwhile. */
const WORK_OF_A_RUN = 8;

/** Runs of fewer elements are copied one by one, since a view on them takes longer. */
const shortRun = 32;

/** The cost of a run as a unit of a phase. */
export function costOfRun(length: number): number {
  return 4 * WORK_OF_A_RUN + length / 4;
}

/** target[to + i] = source[from + i] for i within the length. */
export function copyWholeRun(source: TensorData, from: number, length: number, target: TensorData, to: number): void {
  if (length < shortRun) for (let index = 0; index < length; index++) target[to + index] = source[from + index];
  else target.set(source.subarray(from, from + length), to);
}
