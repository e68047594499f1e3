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
  /** Ends it at once, as SIGKILL does. */
  kill(): Promise<void>;
}

/** Starts a module of this folder, whose functions `answer` serves. */
export function startPeer(module: string, options: { readonly execArgv?: readonly string[] } = {}): Peer {
  const path = fileURLToPath(new URL(module, import.meta.url));
  const child = fork(path, { execArgv: [...fromSource, ...(options.execArgv ?? [])], serialization: "advanced" });
  const pending = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  let asked = 0;
  child.on("message", (message: { id: number; value?: unknown; error?: string }) => {
    const call = pending.get(message.id);
    pending.delete(message.id);
    if (message.error === undefined) call?.resolve(message.value);
    else call?.reject(new Error(message.error));
  });
  child.once("exit", (code, signal) => {
    for (const { reject } of pending.values()) reject(new Error(`the peer ended with ${code ?? signal}`));
  });
  return {
    process: child,
    ask: (what, argument) =>
      new Promise((resolve, reject) => {
        const id = ++asked;
        pending.set(id, { resolve, reject });
        child.send({ id, what, argument });
      }),
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, "exit");
      child.kill("SIGKILL");
      await exit;
    },
  };
}

/** Answers in the second process. It ends when the first one does. */
export function answer(methods: Readonly<Record<string, (argument: never) => unknown>>): void {
  process.on("disconnect", () => process.exit());
  process.on("message", async ({ id, what, argument }: { id: number; what: string; argument: never }) => {
    try {
      process.send?.({ id, value: await methods[what]?.(argument) });
    } catch (error) {
      process.send?.({ id, error: error instanceof Error ? error.message : String(error) });
    }
  });
}

/** A folder for sockets and files. */
export function privateFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "nnhal-shm-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** How many files this process has open. */
export function openFiles(): number {
  return readdirSync("/proc/self/fd").length;
}
