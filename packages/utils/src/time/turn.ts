/** The next turn of the event loop, in Node.js and in a browser. */

const waiting: (() => void)[] = [];
let post: (() => void) | undefined;

/** Calls back in the next turn of the event loop. */
export function callSoon(run: () => void): void {
  if (typeof setImmediate === "function") setImmediate(run);
  else if (typeof MessageChannel === "function") afterMessage(run);
  else setTimeout(run, 0);
}

/** Resolves in the next turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise(callSoon);
}

/** Browsers delay nested timers by milliseconds, but not messages. */
function afterMessage(run: () => void): void {
  post ??= openChannel();
  waiting.push(run);
  post();
}

/** Opens a channel. Returns a function that sends a message; each message runs the task that has waited longest. */
function openChannel(): () => void {
  const { port1, port2 } = new MessageChannel();
  port1.addEventListener("message", () => waiting.shift()?.());
  port1.start();
  return () => port2.postMessage(null);
}
