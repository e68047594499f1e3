/**
 * A worker of this thread, for tests.
 */
import { MessageChannel } from "node:worker_threads";
import { afterEach } from "vitest";
import type { Port } from "./port.ts";
import { serve } from "./serve.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A worker of this thread. `onPost`: sees each message that is sent to it. */
export function portHere(onPost: (message: unknown, transfer: readonly ArrayBuffer[]) => void = () => {}) {
  const { port1, port2 } = new MessageChannel();
  const unreadable: (() => void)[] = [];
  closing.push(() => port1.close());
  serve({
    post: (message, transfer) => port2.postMessage(message, transfer),
    listen(onMessage, _, onUnreadable) {
      port2.on("message", onMessage);
      if (onUnreadable !== undefined) unreadable.push(onUnreadable);
    },
  });
  const port: Port = {
    post(message, transfer) {
      onPost(message, transfer);
      port1.postMessage(message, transfer);
    },
    listen: (onMessage) => port1.on("message", onMessage),
    hold() {},
    letGo() {},
    end: async () => port1.close(),
  };
  return {
    port,
    lose: () => {
      for (const tell of unreadable) tell();
    },
  };
}
