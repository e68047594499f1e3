/**
 * Drives a computation that pauses now and then: lets the event loop turn when it has held it for a while, and ends the
 * computation when its deadline passes.
 */
import type { RunContext } from "@nnhal/backend";

/** Longest time in nanoseconds that the event loop waits for pauses of a few milliseconds each. */
const SLICE = 10_000_000n;

/** Runs a computation to its end. `missed`: the outcome when the deadline passes first. */
export async function drive<Result>(
  steps: Generator<void, Result>,
  { now, deadline }: Pick<RunContext, "now" | "deadline">,
  missed: Result,
): Promise<Result> {
  let sliceEnd = now() + SLICE;
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    const time = now();
    if (deadline !== undefined && time >= deadline) {
      // Generators of this package hold nothing that needs their finally blocks.
      return missed;
    }
    if (time >= sliceEnd) {
      await turn();
      sliceEnd = now() + SLICE;
    }
  }
}

/** Lets the event loop turn once. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === "function") setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}
