/**
 * Starts workers, in browsers: those of the web.
 */
import type { Port } from "./port.ts";

/** The browser's own. Bundlers look for these words; the build writes `.js`. */
declare const Worker: new (url: URL, options: { readonly type: "module" }) => WebWorker;

/** Starts a worker that computes. */
export function startWorker(): Port {
  return portOfWorker(new Worker(new URL("./worker-browser.ts", import.meta.url), { type: "module" }));
}

/** Parts of a web worker that are used here. */
export interface WebWorker {
  postMessage(message: unknown, transfer: readonly ArrayBuffer[]): void;
  addEventListener(
    kind: string,
    listener: (event: { readonly data?: unknown; readonly message?: string }) => void,
  ): void;
  terminate(): void;
}

/** A worker of the web as a port. */
export function portOfWorker(worker: WebWorker): Port {
  return {
    post: (message, transfer) => worker.postMessage(message, transfer),
    listen(onMessage, onError, onUnreadable) {
      worker.addEventListener("messageerror", () => onUnreadable?.());
      worker.addEventListener("message", ({ data }) => onMessage(data));
      worker.addEventListener("error", ({ message }) => onError(new Error(message ?? "the worker cannot be loaded")));
    },
    hold() {},
    letGo() {},
    end: async () => worker.terminate(),
  };
}
