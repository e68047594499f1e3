/**
 * Turns of the event loop. All computations of the process share one slice of time. When it is over, they wait in a queue, and each
 * turn of the event loop continues one of them. Ten long computations at the same time therefore block the event loop no longer than
 * one does.
 */
import { callSoon } from "@nnhal/utils/time";

/** Milliseconds that computations may block the event loop, in addition to the work between two of their pauses. */
const SLICE = 10;

/** True while a slice is running: no turn of the event loop has ended it yet. */
let isRunning = false;
let sliceEnd = 0;
const waiting: (() => void)[] = [];

/** Returns whether the slice is over. Begins one if none is running. */
export function isTurnDue(): boolean {
  if (isRunning) return performance.now() >= sliceEnd;
  begin();
  return false;
}

/** Resolves in a later turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (!isRunning) begin();
  });
}

function begin(): void {
  isRunning = true;
  sliceEnd = performance.now() + SLICE;
  callSoon(end);
}

/** Runs in the next turn of the event loop: ends the slice and continues one computation. */
function end(): void {
  isRunning = false;
  const next = waiting.shift();
  if (next === undefined) return;
  begin();
  next();
}
