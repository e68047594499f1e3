/**
 * Entry of a worker thread of Node.js.
 */
import { parentPort } from "node:worker_threads";
import { serve } from "./serve.ts";

export { type Provided, provide } from "./serve.ts";
export { serve };

if (parentPort !== null) {
  const port = parentPort;
  serve({
    post: (message, transfer) => port.postMessage(message, transfer),
    listen(onMessage, _, onUnreadable) {
      port.on("message", onMessage);
      port.on("messageerror", () => onUnreadable?.());
    },
  });
}
