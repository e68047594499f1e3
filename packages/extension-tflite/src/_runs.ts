/**
 * Copies runs of elements: many short ones, or a few long ones.
 */

import type { TensorData } from "@nnhal/operations";
import { copyInChunks } from "@nnhal/operations/kernels";

/** Work to find a run, in elements that are copied meanwhile. */
export const WORK_OF_A_RUN = 8;

/** Runs of fewer elements are copied one by one, since a view on them takes longer. */
const shortRun = 32;
/** Runs of more elements take so long that they are copied with pauses. */
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

/** target[to + i] = source[from + i] for i within the length. Returns the rest of the work, which pauses; undefined if there is none. */
export function copyRun(
  source: TensorData,
  from: number,
  length: number,
  target: TensorData,
  to: number,
): Iterable<void> | undefined {
  if (length > longRun) return copyInChunks(source.subarray(from, from + length), target, to);
  copyWholeRun(source, from, length, target, to);
  return undefined;
}
