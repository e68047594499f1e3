/**
 * Watches from another thread whether this one is blocked. Nothing can end code that blocks a thread but the end of the process: a driver
 * that runs in the process of the tests, and blocks it for ever, ends the run with its name instead of hanging it.
 */
import { Worker } from "node:worker_threads";

/** Watches until it is closed. */
export interface ThreadWatch {
  /** Sets the name of the running case, for the message. */
  begin(what: string): void;
  close(): Promise<void>;
}

const mostBytes = 2048;
const beatMs = 200;

/** In the other thread. Its standard output would wait for the thread that is blocked, so it writes to the file. */
const code = `
const { workerData: { state, text, limit } } = require("node:worker_threads");
const { writeSync } = require("node:fs");
// Looks are counted, not the time between them: a machine that sleeps is not a blocked thread.
let last = -1, looks = 0;
setInterval(() => {
  const beat = Atomics.load(state, 0);
  looks = beat === last ? looks + 1 : 0;
  last = beat;
  if (looks * ${beatMs} < limit) return;
  const what = new TextDecoder().decode(text.slice(0, Atomics.load(state, 1)));
  writeSync(2, "\\n" + what + " has blocked the thread of the tests for " + limit + " ms: this process ends. With the URL of a module instead of a " +
    "function, a driver runs in a process of its own, its case fails, and the others run on.\\n");
  process.kill(process.pid, "SIGKILL");
}, ${beatMs});
`;

/** Watches this thread, and ends the process when it is blocked for `limit` milliseconds. */
export function watchThread(limit: number): ThreadWatch {
  const state = new Int32Array(new SharedArrayBuffer(8));
  const text = new Uint8Array(new SharedArrayBuffer(mostBytes));
  const worker = new Worker(code, { eval: true, workerData: { state, text, limit }, execArgv: [] });
  worker.unref();
  const beating = setInterval(() => Atomics.add(state, 0, 1), beatMs);
  beating.unref();
  return {
    begin(what) {
      const bytes = new TextEncoder().encode(what).subarray(0, mostBytes);
      text.set(bytes);
      Atomics.store(state, 1, bytes.length);
      Atomics.add(state, 0, 1);
    },
    async close() {
      clearInterval(beating);
      await worker.terminate();
    },
  };
}
