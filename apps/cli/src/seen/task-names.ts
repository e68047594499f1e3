/**
 * The words of `--task`. They stand apart, since the command line reads them at each start.
 */

/** What a network sees in a picture. */
export type Task = "detect" | "segment" | "landmarks";

/** What `--task` takes: also the best classes of the first output that is a list, or the values of all outputs. */
export const tasks = ["detect", "segment", "landmarks", "classify", "values"] as const;

/** A word of `--task`. */
export type GivenTask = (typeof tasks)[number];

/** Whether a task is to see something in a picture. */
export function isSeen(task: GivenTask): task is Task {
  return task !== "classify" && task !== "values";
}
