/**
 * Turns of the event loop. The process has one event loop, so all computations of the process share one slice of time: when it is
 * over, they wait in a queue, and each turn of the event loop lets one of them go on. Ten long computations at once therefore hold the
 * event loop no longer than one does.
 */

/** Milliseconds that computations may hold the event loop, in addition to what lies between two of their pauses. */
const SLICE = 10;

const soon: (run: () => void) => void = typeof setImmediate === "function" ? setImmediate : (run) => setTimeout(run, 0);

/** Whether a slice has begun that no turn of the event loop has ended yet. */
let isRunning = false;
let sliceEnd = 0;
const waiting: (() => void)[] = [];

/** Whether the slice is over. Begins one if none is running. */
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
  soon(end);
}

/** Runs in the next turn of the event loop, before the one that goes on. */
function end(): void {
  isRunning = false;
  const next = waiting.shift();
  if (next === undefined) return;
  begin();
  next();
}
