/**
 * What differs between platforms, for browsers: there are no files and no installed engines, and workers are those of the web.
 */
import { NetworkError } from "./error.ts";
import type { Port } from "./port.ts";

/** A browser has only the engines that the application's bundle has. */
export const knownEngines: readonly string[] = [];

/** There are no files: everything is fetched. */
export async function readLocal(_source: string | URL): Promise<undefined> {
  return undefined;
}

/** Names of modules mean nothing in a bundle. */
export async function loadModule(name: string): Promise<never> {
  const help = `give the module itself: engines: [() => import("${name}")]`;
  throw new NetworkError("BAD_OPTION", `engines: "${name}" cannot be loaded by its name in a browser; ${help}`);
}

/** The browser's own. Bundlers look for these words. */
declare const Worker: new (url: URL, options: { readonly type: "module" }) => WebWorker;

/** Starts a worker that computes. */
export function startWorker(): Port {
  return portOfWorker(new Worker(new URL("./worker-browser.js", import.meta.url), { type: "module" }));
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
    listen(onMessage, onError) {
      worker.addEventListener("message", ({ data }) => onMessage(data));
      worker.addEventListener("error", ({ message }) => onError(new Error(message ?? "the worker cannot be loaded")));
    },
    hold() {},
    letGo() {},
    end: async () => worker.terminate(),
  };
}
