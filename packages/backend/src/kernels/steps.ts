/**
 * Computations in steps. A computation is a generator that pauses, or waits for a promise; `drive` runs it to its end. At each pause
 * the event loop gets its turn if it is due, and the computation ends if its deadline has passed.
 */
import { elementAt } from "@nnhal/operations";
import { isTurnDue, turn } from "./turns.ts";

/** The yield of a computation. Undefined: a pause. A promise: the computation continues when it has settled. */
// biome-ignore lint/suspicious/noConfusingVoidType: kernels are generators of void
export type Pause = PromiseLike<unknown> | void;

/** A computation. */
export type Steps<Result> = Generator<Pause, Result, void>;

/** Throws if a computation must end. Called at each pause. */
export type Check = () => void;

/** Runs a computation to its end, synchronously if it never yields. Errors of `check` are thrown into the computation. */
export function drive<Result>(steps: Steps<Result>, check: Check): Result | Promise<Result> {
  const first = steps.next();
  return first.done ? first.value : driveFrom(first, steps, check);
}

async function driveFrom<Result>(
  first: IteratorYieldResult<Pause>,
  steps: Steps<Result>,
  check: Check,
): Promise<Result> {
  let step: IteratorResult<Pause, Result> = first;
  while (!step.done) {
    try {
      if (step.value !== undefined) await step.value;
      if (isTurnDue()) await turn();
      check();
    } catch (error) {
      step = steps.throw(error);
      continue;
    }
    step = steps.next();
  }
  return step.value;
}

/** Waits for a promise inside a computation. */
export function* settle<T>(promise: PromiseLike<T>): Steps<T> {
  const box: T[] = [];
  yield promise.then((value) => {
    box.push(value);
  });
  return elementAt(box, 0);
}

/** A value, or the value that a promise resolves to, inside a computation: `const value = yield* awaitValue(given)`. */
export function* awaitValue<T>(given: T | Promise<T>): Steps<T> {
  return given instanceof Promise ? yield* settle(given) : given;
}
