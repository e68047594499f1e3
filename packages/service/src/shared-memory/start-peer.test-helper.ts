/** A second process for tests: it is asked by messages, and ends with the test file. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fromSource } from "@nnhal/test-kit/from-source";

export interface Peer {
  readonly process: ChildProcess;
  /** Asks the process to do something. */
  ask(what: string, argument?: unknown): Promise<unknown>;
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;
  /** Ends it immediately, as SIGKILL does. */
  kill(): Promise<void>;
}

type Methods = Readonly<Record<string, (argument: never) => unknown>>;
type Ask = Peer["ask"];

interface Message {
  readonly id: number;
  /** Of a call. */
  readonly what?: string;
  readonly argument?: never;
  /** Of an answer. */
  readonly value?: unknown;
  readonly error?: string;
}

/** Calls in both directions over the messages of a parent and a child process. */
function callsOver(channel: ChildProcess | NodeJS.Process, methods: Methods): { ask: Ask; end(why: string): void } {
  const pending = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  let asked = 0;
  let over: Error | undefined;
  const send = (message: Message) => void channel.send?.(message, undefined, undefined, () => {});
  channel.on("message", async ({ id, what, argument, value, error }: Message) => {
    if (what === undefined) {
      const call = pending.get(id);
      pending.delete(id);
      if (error === undefined) call?.resolve(value);
      else call?.reject(new Error(error));
      return;
    }
    try {
      const method = methods[what];
      if (method === undefined) throw new Error(`there is no method ${what}`);
      send({ id, value: await method(argument as never) });
    } catch (failure) {
      send({ id, error: failure instanceof Error ? failure.message : String(failure) });
    }
  });
  return {
    ask: (what, argument) =>
      new Promise((resolve, reject) => {
        if (over !== undefined) return reject(over);
        const id = ++asked;
        pending.set(id, { resolve, reject });
        send({ id, what, argument: argument as never });
      }),
    end(why) {
      over = new Error(why);
      for (const { reject } of pending.values()) reject(over);
      pending.clear();
    },
  };
}

/** Starts a module of this folder in a process, which can call `methods`. `loader`: how it loads TypeScript. */
export function startPeer(
  module: string,
  execArgv: readonly string[] = [],
  methods: Methods = {},
  loader: readonly string[] = fromSource,
): Peer {
  const path = fileURLToPath(new URL(module, import.meta.url));
  const child = fork(path, { execArgv: [...loader, ...execArgv], serialization: "advanced" });
  const { ask, end } = callsOver(child, methods);
  const ended = once(child, "exit").then(([code, signal]) => end(`the peer ended with ${code ?? signal}`));
  return {
    process: child,
    ask,
    ended,
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Answers in the second process. It ends when the first one does. */
export function answer(methods: Methods): Ask {
  process.on("disconnect", () => process.exit());
  return callsOver(process, methods).ask;
}

/** A folder for sockets and files. */
export function privateFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "nnhal-shm-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Returns the number of files that this process has open. */
export function openFiles(): number {
  return readdirSync("/proc/self/fd").length;
}
