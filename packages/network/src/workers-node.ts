/**
 * Starts workers, in Node.js: threads.
 */
import { Worker } from "node:worker_threads";
import { ifPermitted } from "@nnhal/utils";
import { NetworkError } from "./error.ts";
import type { Port } from "./port.ts";
import { messageOf } from "./text.ts";

/** Starts a worker thread that computes. `threads`: for engines with threads of their own. */
export function startWorker(threads?: number): Port {
  const env = threads === undefined ? undefined : workerEnvironment(process.env, threads);
  // Bundlers look for these words, with options that are written here. The build writes `.js`.
  try {
    return portOfWorker(new Worker(new URL("./worker-node.ts", import.meta.url), { env }));
  } catch (error) {
    // A bundle in CommonJS has no URL of its own.
    throw new NetworkError("BAD_OPTION", `worker: no thread can be started: ${messageOf(error)}; ${helpOfBundles}`, {
      cause: error,
    });
  }
}

/** Remedy for a bundle that has no file for the worker. */
const helpOfBundles = "in a bundle, make nnhal/worker an entry of its own with the name worker-node";

/** The environment of a worker: that of the process, with the threads that its engines may have. */
export function workerEnvironment(env: NodeJS.ProcessEnv, threads: number): NodeJS.ProcessEnv {
  return {
    ...ifPermitted(() => ({ ...env })),
    NNHAL_ORT_THREADS: String(threads),
    NNHAL_WASM_THREADS: String(threads),
  };
}

/** An error of a worker; without the file of the worker, one that says how a bundle gets it. */
function explainError(error: Error): Error {
  const code = "code" in error ? error.code : undefined;
  if (code !== "MODULE_NOT_FOUND" && code !== "ERR_MODULE_NOT_FOUND") return error;
  return new Error(`${error.message}; ${helpOfBundles}`, { cause: error });
}

/** A worker thread as a port. */
export function portOfWorker(worker: Worker): Port {
  return {
    post: (message, transfer) => worker.postMessage(message, transfer),
    listen(onMessage, onError, onUnreadable) {
      worker.on("message", onMessage);
      worker.on("messageerror", () => onUnreadable?.());
      worker.on("error", (error) => onError(explainError(error)));
      worker.on("exit", (code) => onError(new Error(`the worker ended with the code ${code}`)));
    },
    // A model that is not in use keeps no process alive.
    hold: () => worker.ref(),
    letGo: () => worker.unref(),
    end: async () => void (await worker.terminate()),
  };
}
