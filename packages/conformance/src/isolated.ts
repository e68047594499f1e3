/**
 * Suites in processes of their own: a case that crashes, or never lets its thread go, ends only the process it runs in
 * and fails, and another process goes on with the case after it.
 *
 * Cases that take less time than telling about them are told about in batches. A process that is lost then has not said
 * which case it was at: another one runs the same cases again and tells about each, until that is clear.
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
  /**
   * Starts a process with an IPC channel that calls `serveResults` and leaves out the first `skip` cases. `singly` is for
   * `serveResults`.
   */
  readonly start: (skip: number, singly: number) => ChildProcess;
  /** How many results a process tells at once, at most. Default 1: each result, and each case that begins. */
  readonly batch?: number;
  /** Milliseconds without a word after which the current case has failed and its process is ended. */
  readonly silence: number;
  /** Milliseconds that a process may take on top of that until its first case begins. Default 120 000. */
  readonly startup?: number;
  readonly onProgress?: OnProgress;
}

/** What a process says while it runs cases. */
type Message =
  | { readonly kind: "start"; readonly start: CaseStart }
  /** In the order in which they came. */
  | { readonly kind: "results"; readonly results: readonly CaseResult[] }
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
  const { batch = 1 } = options;
  let done = 0;
  let singly = batch === 1 ? Number.POSITIVE_INFINITY : 0;
  for (;;) {
    const child = options.start(done, singly);
    try {
      let end: "complete" | "unclear" | undefined;
      for await (const result of resultsOf(child, singly, options)) {
        if (typeof result === "string") end = result;
        else {
          done++;
          yield result;
        }
      }
      if (end === "complete") return;
      // The last batch that came is not counted, and as many cases may have run after it.
      if (end === "unclear") singly = 2 * batch;
      else if (batch > 1) singly = 0;
    } finally {
      child.kill("SIGKILL");
    }
  }
}

/**
 * The results of one process. After those that are certain comes that of the case it did not survive, or "unclear" where it
 * did not say which that was, or "complete".
 */
async function* resultsOf(
  child: ChildProcess,
  singly: number,
  { silence, startup = 120_000, onProgress }: IsolationOptions,
): AsyncGenerator<CaseResult | "complete" | "unclear"> {
  let hasBegun = false;
  let toCome = singly;
  let current: CaseStart | undefined;
  // Held back until the next word, so that a crash on the way to it counts against them.
  let latest: readonly CaseResult[] = [];
  for await (const message of wordsOf(child, () => (hasBegun ? silence : startup + silence))) {
    if (message.kind === "progress") {
      onProgress?.(message.done, message.detail);
      continue;
    }
    if (message.kind === "lost") {
      if (toCome <= 0) {
        yield "unclear";
        return;
      }
      if (current === undefined)
        throw new Error(`the process that runs the cases ${message.how} before its first case`);
      yield { ...current, verdict: "failed", reason: `the process ${message.how}` };
      return;
    }
    hasBegun = true;
    yield* latest;
    latest = [];
    switch (message.kind) {
      case "start":
        current = message.start;
        break;
      case "results":
        latest = message.results;
        toCome -= latest.length;
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

const kinds: readonly unknown[] = ["start", "results", "progress", "end", "error"] satisfies Message["kind"][];

function isMessage(value: unknown): value is Message {
  return typeof value === "object" && value !== null && "kind" in value && kinds.includes(value.kind);
}

/** How to tell about cases. */
export interface ServingOptions {
  /** How many cases to tell about one by one, before batches. Default: all. */
  readonly singly?: number;
  /** How many results a batch has, at most. Default 1. */
  readonly batch?: number;
}

/** Milliseconds after which a batch is told even if it is small. */
const longestBatch = 250;

/**
 * The other side: runs cases in this process, which `runIsolated` started, and tells about them. `run` gets what it has
 * to call.
 */
export async function serveResults(
  run: (onStart: OnStart, onProgress: OnProgress) => AsyncIterable<CaseResult>,
  { singly = Number.POSITIVE_INFINITY, batch = 1 }: ServingOptions = {},
): Promise<void> {
  // Nobody would read the results of an orphan.
  process.once("disconnect", () => process.exit());
  try {
    let toCome = singly;
    let results: CaseResult[] = [];
    let told = performance.now();
    const tellResults = async () => {
      if (results.length > 0) await tell({ kind: "results", results });
      results = [];
      told = performance.now();
    };
    let hasBegun = false;
    const onStart: OnStart = (start) => {
      if (hasBegun && toCome <= 0) return undefined;
      // That the first case begins is told in any case: from then on, silence means that something is wrong.
      hasBegun = true;
      return tell({ kind: "start", start });
    };
    const onProgress: OnProgress = (done, detail) => void tell({ kind: "progress", done, detail });
    for await (const result of run(onStart, onProgress)) {
      results.push(result);
      const isLate = () => results.length >= batch || performance.now() - told > longestBatch;
      if (toCome-- > 0 || isLate()) await tellResults();
    }
    await tellResults();
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
