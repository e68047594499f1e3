/**
 * The words of `--task`. They stand apart, since the command line reads them at each start.
 */

import type { Task } from "@nnhal/network/tensors";

/** Values of `--task`: also the best classes of the first output that is a list, or the values of all outputs. */
export const tasks = ["detect", "segment", "landmarks", "classify", "values"] as const;

/** A word of `--task`. */
export type GivenTask = (typeof tasks)[number];

/** True for a task whose result is in a picture. */
export function isSeen(task: GivenTask): task is Task {
  return task !== "classify" && task !== "values";
}
