/** Threads of this platform that help an engine: workers of Node.js, Deno or Bun, or of a browser. */
import type * as workers from "node:worker_threads";

/** A thread. */
export interface Thread {
  post(message: unknown): void;
  /** The next message from it. Rejects if the thread ends before. */
  next(): Promise<unknown>;
  /** The reason why it has ended; undefined before. A page learns only of errors, and of `end`. */
  ended(): Error | undefined;
  end(): void;
}

/** The parts of a web worker that are used here. */
export interface WebWorker {
  onmessage: (event: { readonly data: unknown }) => void;
  onerror: (event: { readonly message?: string }) => void;
  postMessage(message: unknown): void;
  terminate(): void;
}

/** The browser's own. */
declare const Worker: new (address: string, options: { readonly name: string }) => WebWorker;

/** Where the answers of a thread arrive. */
interface Inbox {
  readonly next: () => Promise<unknown>;
  readonly take: (message: unknown) => void;
  readonly fail: (reason: Error) => void;
  readonly ended: () => Error | undefined;
}

/** `hold`: called with true when a message is waited for, and with false when none is any more. */
function createInbox(hold: (isWaiting: boolean) => void = () => {}): Inbox {
  const messages: Promise<unknown>[] = [];
  const waiting: { readonly resolve: (message: unknown) => void; readonly reject: (reason: unknown) => void }[] = [];
  let ended: Error | undefined;
  return {
    next() {
      const message = messages.shift();
      if (message !== undefined) return message;
      if (ended !== undefined) return Promise.reject(ended);
      hold(true);
      return new Promise((resolve, reject) => void waiting.push({ resolve, reject }));
    },
    take(message) {
      const first = waiting.shift();
      if (first === undefined) messages.push(Promise.resolve(message));
      else first.resolve(message);
      if (waiting.length === 0) hold(false);
    },
    fail(reason) {
      ended ??= reason;
      for (const { reject } of waiting.splice(0)) reject(reason);
    },
    ended: () => ended,
  };
}

/** The threads of Node.js; undefined in a browser. */
export function threadsOfNode(): typeof workers | undefined {
  // A bundler for pages sees no module of Node.js.
  return globalThis.process?.getBuiltinModule?.("node:worker_threads");
}

/** Starts a thread that runs a script. Throws, or its first answer rejects, if the platform refuses. */
export function startScript(script: string, name: string): Thread {
  const node = threadsOfNode();
  if (node !== undefined) return threadOfNode(new node.Worker(script, { eval: true, execArgv: [], name }));
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  return threadOfPage(new Worker(address, { name }), () => URL.revokeObjectURL(address));
}

/** A worker of Node.js as a thread. It keeps the process alive only while an answer is waited for. */
export function threadOfNode(worker: workers.Worker): Thread {
  const { next, take, fail, ended } = createInbox((isWaiting) => (isWaiting ? worker.ref() : worker.unref()));
  worker.on("message", take);
  worker.on("error", fail);
  worker.on("exit", () => fail(new Error("the thread has ended")));
  // A listener would hold it, so this comes after them.
  worker.unref();
  return { post: (message) => worker.postMessage(message), next, ended, end: () => void worker.terminate() };
}

/** A worker of a page as a thread. `free`: called at its end. */
export function threadOfPage(worker: WebWorker, free = () => {}): Thread {
  const { next, take, fail, ended } = createInbox();
  worker.onmessage = ({ data }) => take(data);
  worker.onerror = ({ message = "the worker cannot be loaded" }) => fail(new Error(message));
  return {
    post: (message) => worker.postMessage(message),
    next,
    ended,
    end() {
      worker.terminate();
      free();
      fail(new Error("the thread has ended"));
    },
  };
}
