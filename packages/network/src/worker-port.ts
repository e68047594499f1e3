/**
 * Both ends of a connection to a worker of the web, as ports.
 */
import type { Port } from "./port.ts";

/** Parts of a web worker that are used here. */
export interface WebWorker {
  postMessage(message: unknown, transfer: ArrayBuffer[]): void;
  addEventListener(
    kind: string,
    listener: (event: { readonly data?: unknown; readonly message?: string }) => void,
  ): void;
  terminate(): void;
}

/** The port to a worker, which ends with it. */
export function portOfWorker(worker: WebWorker): Port {
  return {
    post: (message, transfer) => worker.postMessage(message, [...transfer]),
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

/** Globals of a web worker. */
interface WorkerGlobals {
  postMessage(message: unknown, transfer: readonly ArrayBuffer[]): void;
  addEventListener(kind: string, listener: (event: { readonly data: unknown }) => void): void;
}

/** In a worker: the port to the page, or the worker, that started it. */
export function portOfStarter(): Pick<Port, "listen" | "post"> {
  // They are not declared in the types of Node.js.
  const globals = globalThis as unknown as WorkerGlobals;
  return {
    post: (message, transfer) => globals.postMessage(message, transfer),
    listen(onMessage, _, onUnreadable) {
      globals.addEventListener("message", ({ data }) => onMessage(data));
      globals.addEventListener("messageerror", () => onUnreadable?.());
    },
  };
}
