/** Threads for tests: the "network" counts the bytes of an input, and some inputs end the thread, hang or cannot be used. */
import { Worker } from "node:worker_threads";
import { fromSource } from "@nnhal/test-kit/from-source";

export function startTestThread(): Worker {
  return new Worker(new URL("./thread.test-process.ts", import.meta.url), { execArgv: [...fromSource] });
}
