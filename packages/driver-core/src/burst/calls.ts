/**
 * Calls between two threads over a MessagePort, which a burst needs in addition to its queues. Calls end when the other thread
 * does.
 */

/** A port between two threads, as a MessagePort of `node:worker_threads` is one. */
export interface BurstPort {
  on(event: "message", listener: (message: unknown) => void): unknown;
  once(event: "close", listener: () => void): unknown;
  postMessage(message: unknown): void;
  /** Lets the port keep its thread alive. */
  ref(): void;
  unref(): void;
  close(): void;
}

/** A call that was not answered, because the other side has closed the port or its thread has ended. */
export class PeerGone extends Error {
  override readonly name = "PeerGone";

  constructor() {
    super("the other side is gone");
  }
}

/** One side of a port on which both sides call each other. */
export interface Calls {
  /**
   * Calls a method of the other side. Rejects if the method fails, and with PeerGone. A call has no time limit: the caller sets
   * one.
   */
  call(method: string, argument: unknown): Promise<unknown>;
  /** Resolves when the port is closed, by whichever side, or when the other thread has ended. */
  readonly closed: Promise<void>;
  close(): void;
}

/**
 * Answers calls on a port by some methods. `keepAlive`: whether this side keeps its thread alive until the port is closed;
 * a call under way always does.
 */
export function createCalls(
  port: BurstPort,
  methods: Readonly<Record<string, (argument: unknown) => unknown>>,
  { keepAlive }: { readonly keepAlive: boolean },
): Calls {
  const pending = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  let isClosed = false;
  let nextId = 0;
  const settle = (id: number) => {
    const call = pending.get(id);
    pending.delete(id);
    if (pending.size === 0 && !keepAlive) port.unref();
    return call;
  };
  const answer = async (id: number, method: string, argument: unknown) => {
    const known = Object.hasOwn(methods, method) ? methods[method] : undefined;
    try {
      if (known === undefined) throw new Error(`there is no method ${method}`);
      port.postMessage({ answers: id, value: await known(argument) });
    } catch (error) {
      port.postMessage({ answers: id, error: String(error) });
    }
  };
  port.on("message", (message: unknown) => {
    if (!isRecord(message)) return;
    const { answers, id, method, value, error } = message;
    if (typeof answers === "number") {
      if (error === undefined) settle(answers)?.resolve(value);
      else settle(answers)?.reject(new Error(String(error)));
    } else if (typeof id === "number" && typeof method === "string") {
      void answer(id, method, message.argument);
    }
  });
  const closed = new Promise<void>((resolve) => {
    const end = () => {
      isClosed = true;
      for (const { reject } of pending.values()) reject(new PeerGone());
      pending.clear();
      resolve();
    };
    port.once("close", end);
    if (wasClosed(port)) end();
  });
  if (!keepAlive) port.unref();
  return {
    closed,
    close: () => port.close(),
    call: (method, argument) =>
      new Promise((resolve, reject) => {
        if (isClosed) return reject(new PeerGone());
        const id = nextId++;
        pending.set(id, { resolve, reject });
        port.ref();
        try {
          port.postMessage({ id, method, argument });
        } catch (error) {
          settle(id);
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      }),
  };
}

/** Returns true if a port was closed before a listener was added: no event reports that later. */
function wasClosed(port: BurstPort): boolean {
  port.ref();
  return "hasRef" in port && typeof port.hasRef === "function" && port.hasRef() === false;
}

/** Returns true if a value is an object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
