/** Starts threads of the reference in Node.js, Deno and Bun. */
import { type Thread, threadOfNode, threadsOfNode } from "@nnhal/backend/threads";

/** Starts a thread. Throws, or its first answer rejects, if the platform refuses or has no such file. `execArgv`: arguments of Node.js. */
export function startThread(_: unknown, execArgv?: readonly string[]): Thread {
  const node = threadsOfNode();
  if (node === undefined) throw new Error("there are no worker threads here");
  // The build writes `.js`, which needs no argument of this process: some make no sense for a thread. Sources need what loads them.
  const file = new URL("./thread.ts", import.meta.url);
  const given = execArgv ?? (file.pathname.endsWith(".js") ? [] : undefined);
  return threadOfNode(new node.Worker(file, given && { execArgv: [...given] }));
}
