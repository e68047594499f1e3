/** Starts threads of the reference in Node.js, Deno and Bun. */
import { type Thread, threadOfNode, threadsOfNode } from "@nnhal/backend/threads";

/** Starts a thread. Throws, or its first answer rejects, if the platform refuses or has no such file. `execArgv`: arguments of Node.js. */
export function startThread(_: unknown, execArgv?: readonly string[]): Thread {
  const node = threadsOfNode();
  if (node === undefined) throw new Error("there are no worker threads here");
  // Bundlers look for these words. The build writes `.js`.
  const worker = new node.Worker(new URL("./thread.ts", import.meta.url), execArgv && { execArgv: [...execArgv] });
  return threadOfNode(worker);
}
