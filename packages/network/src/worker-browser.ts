/**
 * Entry of a web worker.
 */
import { serve } from "./serve.ts";

export { type Provided, provide } from "./serve.ts";
export { serve };

/** Globals of a web worker. */
interface WorkerGlobals {
  postMessage(message: unknown, transfer: readonly ArrayBuffer[]): void;
  addEventListener(kind: string, listener: (event: { readonly data: unknown }) => void): void;
}

// They are not declared in the types of Node.js.
const globals = globalThis as unknown as WorkerGlobals;

if ("WorkerGlobalScope" in globalThis) {
  serve({
    post: (message, transfer) => globals.postMessage(message, transfer),
    listen(onMessage, _, onUnreadable) {
      globals.addEventListener("message", ({ data }) => onMessage(data));
      globals.addEventListener("messageerror", () => onUnreadable?.());
    },
  });
}
