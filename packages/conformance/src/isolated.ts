/**
 * Suites in processes of their own: a case that crashes, or never lets its thread go, ends only the process it runs in
 * and fails, and another process goes on with the case after it.
 */
import type { ChildProcess } from "node:child_process";
import type { CaseResult } from "./result.ts";

/** A case that begins. */
export type CaseStart = Pick<CaseResult, "name" | "subject">;

/** Called when a case begins; the case waits for it. */
export type OnStart = (start: CaseStart) => Promise<void> | void;

/** Called as a run gets on: how much is done in all, and what was done last. */
export type OnProgress = (done: number, detail: string) => void;

/** How to run cases elsewhere. */
export interface IsolationOptions {
  /** Starts a process with an IPC channel that calls `serveResults` and leaves out the first `skip` cases. */
  readonly start: (skip: number) => ChildProcess;
  /** Milliseconds without a word after which the current case has failed and its process is ended. */
  readonly silence: number;
  /** Milliseconds that a process may take on top of that until its first case begins. Default 120 000. */
  readonly startup?: number;
  readonly onProgress?: OnProgress;
}

/** What a process says while it runs cases. */
type Message =
  | { readonly kind: "start"; readonly start: CaseStart }
  | { readonly kind: "result"; readonly result: CaseResult }
  | { readonly kind: "progress"; readonly done: number; readonly detail: string }
  | { readonly kind: "end" }
  /** The run cannot go on, for a reason that no case is to blame for. */
  | { readonly kind: "error"; readonly message: string };

/** Stands for all that a process will not say any more, and why. */
interface Lost {
  readonly kind: "lost";
  readonly how: string;
}

/** Runs cases in processes and yields their results. Rejects where a process cannot begin its first case. */
export async function* runIsolated(options: IsolationOptions): AsyncGenerator<CaseResult> {
  let done = 0;
  let isComplete = false;
  while (!isComplete) {
    const child = options.start(done);
    try {
      for await (const result of resultsOf(child, options)) {
        if (result === "complete") isComplete = true;
        else {
          done++;
          yield result;
        }
      }
    } finally {
      child.kill("SIGKILL");
    }
  }
}

/** The results of one process; the last is that of the case it did not survive, or "complete". */
async function* resultsOf(
  child: ChildProcess,
  { silence, startup = 120_000, onProgress }: IsolationOptions,
): AsyncGenerator<CaseResult | "complete"> {
  let current: CaseStart | undefined;
  // Held back until the next word, so that a crash on the way to it counts against this case.
  let latest: CaseResult | undefined;
  for await (const message of wordsOf(child, () => (current === undefined ? startup + silence : silence))) {
    if (message.kind === "progress") {
      onProgress?.(message.done, message.detail);
      continue;
    }
    if (message.kind === "lost") {
      if (current === undefined)
        throw new Error(`the process that runs the cases ${message.how} before its first case`);
      yield { ...current, verdict: "failed", reason: `the process ${message.how}` };
      return;
    }
    if (latest !== undefined) yield latest;
    latest = undefined;
    switch (message.kind) {
      case "start":
        current = message.start;
        break;
      case "result":
        latest = message.result;
        break;
      case "error":
        throw new Error(message.message);
      case "end":
        yield "complete";
        return;
    }
  }
}

/** All that a process says, and what became of it. `limit` is how many milliseconds it may take to its next word. */
async function* wordsOf(child: ChildProcess, limit: () => number): AsyncGenerator<Message | Lost> {
  const waiting: (Message | Lost)[] = [];
  let wake = () => {};
  const hear = (message: Message | Lost) => {
    waiting.push(message);
    wake();
  };
  let end: string | undefined;
  // Words may still be on their way when the process is gone; they are all there when the channel is closed.
  const hearEnd = () => {
    if (end !== undefined && !child.connected) hear({ kind: "lost", how: end });
  };
  child.on("message", (message) => {
    if (isMessage(message)) hear(message);
  });
  child.once("error", (error) => hear({ kind: "lost", how: `could not be started (${error.message})` }));
  child.once("exit", (code, signal) => {
    end = signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
    hearEnd();
  });
  child.once("disconnect", hearEnd);
  for (;;) {
    const next = waiting.shift();
    if (next !== undefined) {
      yield next;
      continue;
    }
    const patience = limit();
    const timer = setTimeout(() => hear({ kind: "lost", how: `did not react for ${patience} ms` }), patience);
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
    clearTimeout(timer);
  }
}

const kinds: readonly unknown[] = ["start", "result", "progress", "end", "error"] satisfies Message["kind"][];

function isMessage(value: unknown): value is Message {
  return typeof value === "object" && value !== null && "kind" in value && kinds.includes(value.kind);
}

/**
 * The other side: runs cases in this process, which `runIsolated` started, and tells about them. `run` gets what it has
 * to call.
 */
export async function serveResults(
  run: (onStart: OnStart, onProgress: OnProgress) => AsyncIterable<CaseResult>,
): Promise<void> {
  // Nobody would read the results of an orphan.
  process.once("disconnect", () => process.exit());
  try {
    const onProgress: OnProgress = (done, detail) => void tell({ kind: "progress", done, detail });
    for await (const result of run((start) => tell({ kind: "start", start }), onProgress)) {
      await tell({ kind: "result", result });
    }
    await tell({ kind: "end" });
  } catch (error) {
    await tell({ kind: "error", message: error instanceof Error ? error.message : String(error) });
  }
}

/** Sends a message; resolves once it is on its way, whatever this process does next. */
function tell(message: Message): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined) throw new Error("this process was not started to run cases");
    process.send(message, undefined, undefined, () => resolve());
  });
}
