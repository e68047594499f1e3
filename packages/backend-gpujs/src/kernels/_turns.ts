/** Turns of the event loop between the parts of a long computation. */

/** Milliseconds that a computation may hold the event loop, in addition to what lies between two of its pauses. */
const SLICE = 10;

/** Whether the slice that began at a time, in milliseconds, is over. */
export function isSliceOver(start: number): boolean {
  return performance.now() - start >= SLICE;
}

/** Resolves in the next turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === "function") setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}

/** Runs a computation that pauses now and then: its result, or the promise of it if it takes longer than a slice. */
export function inTurns<Result>(computation: Generator<void, Result>): Result | Promise<Result> {
  const start = performance.now();
  for (;;) {
    const { done, value } = computation.next();
    if (done) return value;
    if (isSliceOver(start)) return turn().then(() => inTurns(computation));
  }
}
