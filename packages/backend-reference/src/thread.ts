/**
 * @nnhal/backend-reference/thread: the entry of a thread of the reference, a worker of Node.js or of a page. It contains nothing that starts threads:
 * bundlers would put it into itself.
 */
import { threadsOfNode } from "@nnhal/backend/threads";
import { createHelper } from "./helper/helper.ts";
import type { Numbered } from "./helper/messages.ts";

/** A thread's side of its worker: what it posts arrives at the first thread. */
export interface ThreadPort {
  postMessage(message: object): void;
}

/** Lets a thread help. Returns the receiver of its messages. In a worker, this module does so itself. */
export function serveThread(port: ThreadPort): (message: unknown) => void {
  const receive = createHelper(() => port.postMessage({}));
  // They are messages of a team.
  return (message) => void receive(message as Numbered);
}

const node = threadsOfNode();
if (node !== undefined) {
  const { parentPort } = node;
  if (parentPort !== null) parentPort.on("message", serveThread(parentPort));
} else if ("WorkerGlobalScope" in globalThis) {
  // The globals of a worker are not declared in the types of Node.js.
  const page = globalThis as unknown as ThreadPort & { onmessage: (event: { readonly data: unknown }) => void };
  const receive = serveThread(page);
  page.onmessage = ({ data }) => receive(data);
}
