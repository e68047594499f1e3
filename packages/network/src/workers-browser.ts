/**
 * Starts workers, in browsers: those of the web.
 */
import type { Port } from "./port.ts";
import { portOfWorker, type WebWorker } from "./worker-port.ts";

/** The browser's own. Bundlers look for these words; the build writes `.js`. */
declare const Worker: new (url: URL, options: { readonly type: "module" }) => WebWorker;

/** Starts a worker that computes. */
export function startWorker(): Port {
  return portOfWorker(new Worker(new URL("./worker-browser.ts", import.meta.url), { type: "module" }));
}
