/**
 * Starts workers, in browsers: those of the web.
 */
import type { Picture } from "./picture/picture.ts";
import type { Port } from "./port.ts";

/** The browser's own. Bundlers look for these words; the build writes `.js`. */
declare const Worker: new (url: URL, options: { readonly type: "module" }) => WebWorker;

/** Starts a worker that computes. */
export function startWorker(): Port {
  return portOfWorker(new Worker(new URL("./worker-browser.ts", import.meta.url), { type: "module" }));
}

/** Browsers decode beside the calling thread by themselves. */
export async function decodeApart(_: Uint8Array, __: number, ___: AbortSignal | undefined): Promise<Picture | undefined> {
  return undefined;
}

/** What a worker of the web has that is used here. */
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
