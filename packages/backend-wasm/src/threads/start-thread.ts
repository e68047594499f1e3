/** Starts a thread of this platform: a worker of Node.js, Deno or Bun, or of a browser. */

/** A thread. */
export interface Thread {
  post(message: unknown): void;
  /** The next message from it. Rejects if the thread ends before. */
  next(): Promise<unknown>;
  end(): void;
}

/** The browser's own. */
declare const Worker: new (
  address: string,
  options: { readonly name: string },
) => {
  onmessage: (event: { readonly data: unknown }) => void;
  onerror: (event: { readonly message?: string }) => void;
  postMessage(message: unknown): void;
  terminate(): void;
};

/** Where the answers of a thread arrive. */
interface Inbox {
  readonly next: () => Promise<unknown>;
  readonly take: (message: unknown) => void;
  readonly fail: (reason: unknown) => void;
}

/** `hold`: called with true when a message is waited for, and with false when none is any more. */
function createInbox(hold: (isWaiting: boolean) => void = () => {}): Inbox {
  const messages: Promise<unknown>[] = [];
  const waiting: { readonly resolve: (message: unknown) => void; readonly reject: (reason: unknown) => void }[] = [];
  let ended: { readonly reason: unknown } | undefined;
  return {
    next() {
      const message = messages.shift();
      if (message !== undefined) return message;
      if (ended !== undefined) return Promise.reject(ended.reason);
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
      ended ??= { reason };
      for (const { reject } of waiting.splice(0)) reject(reason);
    },
  };
}

/** Starts a thread that runs a script. Throws, or its first answer rejects, if the platform refuses. */
export function startThread(script: string): Thread {
  // A bundler for pages sees no module of Node.js.
  const node = globalThis.process?.getBuiltinModule?.("node:worker_threads");
  if (node !== undefined) {
    const worker = new node.Worker(script, { eval: true, execArgv: [], name: "nnhal-wasm" });
    const inbox = createInbox((isWaiting) => (isWaiting ? worker.ref() : worker.unref()));
    worker.on("message", inbox.take);
    worker.on("error", inbox.fail);
    worker.on("exit", () => inbox.fail(new Error("the thread has ended")));
    // It keeps the process alive only while an answer is waited for. A listener would hold it, so this comes after them.
    worker.unref();
    return { post: (message) => worker.postMessage(message), next: inbox.next, end: () => void worker.terminate() };
  }
  const inbox = createInbox();
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const worker = new Worker(address, { name: "nnhal-wasm" });
  worker.onmessage = ({ data }) => inbox.take(data);
  worker.onerror = ({ message = "the worker cannot be loaded" }) => inbox.fail(new Error(message));
  return {
    post: (message) => worker.postMessage(message),
    next: inbox.next,
    end() {
      worker.terminate();
      URL.revokeObjectURL(address);
    },
  };
}
