/**
 * Runs suites in child processes. A case that crashes, or blocks its thread for ever, fails and ends only its own
 * process; another process goes on with the next case.
 *
 * Results of short cases are sent in batches. If a process is lost within a batch, the case at fault is not known:
 * another process runs the same cases again and reports each one, until it is.
 */
import type { ChildProcess } from "node:child_process";
import type { CaseResult } from "./result.ts";

/** A case that begins. */
export type CaseStart = Pick<CaseResult, "name" | "subject">;

/** Called when a case begins; the case waits for it. */
export type OnStart = (start: CaseStart) => Promise<void> | void;

/** Called with the progress of a run: the number of cases done in all, and a description of the last one. */
export type OnProgress = (done: number, detail: string) => void;

/** Options of runIsolated. */
export interface IsolationOptions {
  /** Starts a process with an IPC channel that calls `serveResults` with `singly`, without the first `skip` cases. */
  readonly start: (skip: number, singly: number) => ChildProcess;
  /** The most results that a process sends in one message. Default 1: each result, and each start of a case. */
  readonly batch?: number | undefined;
  /**
   * Milliseconds without a message after which the current case has failed and its process is ended. After each such case the next one
   * has half the time, down to a quarter, so that a driver that blocks in every case ends too.
   */
  readonly silence: number;
  /** After so many cases that the device did not answer, or that ended their process, the others are not run. Default: all are. */
  readonly mostLost?: number | undefined;
  /** Losses of earlier suites of the same run; this one adds to them. Default: none. */
  readonly losses?: Losses | undefined;
  /**
   * The cases of several suites in their order, and how many of a suite may be lost until the others of that suite are skipped: each
   * suite is to say something. A suite is the part of a case's name before the first slash. Default: none is skipped.
   */
  readonly known?: { readonly cases: readonly CaseStart[]; readonly mostLostOfSuite: number } | undefined;
  /** Further milliseconds for the start of a process, until its first case begins. Default 120 000. */
  readonly startup?: number | undefined;
  readonly onProgress?: OnProgress | undefined;
}

/** A message of a process that runs cases. */
type Message =
  | { readonly kind: "start"; readonly start: CaseStart }
  /** In the order in which they came. */
  | { readonly kind: "results"; readonly results: readonly CaseResult[] }
  | { readonly kind: "progress"; readonly done: number; readonly detail: string }
  | { readonly kind: "end" }
  /** The run cannot go on, and no case is at fault. */
  | { readonly kind: "error"; readonly message: string };

/** The end of a process's messages, with the reason. */
interface Lost {
  readonly kind: "lost";
  readonly how: string;
  /** It runs, but does not react. */
  readonly isSilent?: boolean;
}

/** Losses of a run in all its suites. */
export interface Losses {
  /** Cases that the device did not answer, or that ended their process. */
  cases: number;
  /** Processes that did not react. */
  silences: number;
}

/** The losses of a run that begins. */
export function noLosses(): Losses {
  return { cases: 0, silences: 0 };
}

/** The value of `mostLost` for a run: a driver that never answers would take days. */
export const mostLostCases = 8;
/** The value of `mostLostOfSuite`. */
export const mostLostOfSuite = 3;

/** Runs cases in child processes and yields their results. Rejects if a process cannot begin its first case. */
export async function* runIsolated(options: IsolationOptions): AsyncGenerator<CaseResult> {
  const { batch = 1, mostLost = Number.POSITIVE_INFINITY, losses = noLosses(), known } = options;
  const lostOfSuites = new Map<string, number>();
  let done = 0;
  let singly = batch === 1 ? Number.POSITIVE_INFINITY : 0;
  for (;;) {
    const child = options.start(done, singly);
    try {
      let end: "complete" | "unclear" | undefined;
      const silence = options.silence / Math.min(2 ** losses.silences, 4);
      for await (const result of resultsOf(child, singly, { ...options, silence }, () => losses.silences++)) {
        if (typeof result === "string") {
          end = result;
          continue;
        }
        done++;
        if (!result.isLost) {
          yield result;
          continue;
        }
        if (++losses.cases >= mostLost) {
          const note = `${losses.cases} cases were not answered, or ended their process: the cases that follow were not run`;
          yield { ...result, reason: `${result.reason ?? ""}\n${note}` };
          return;
        }
        yield result;
        const suite = suiteOf(result);
        const lost = (lostOfSuites.get(suite) ?? 0) + 1;
        lostOfSuites.set(suite, lost);
        if (known === undefined || lost < known.mostLostOfSuite) continue;
        const reason = `${lost} ${lost === 1 ? "case" : "cases"} of the suite ${suite} ${lost === 1 ? "was" : "were"} not answered, or ended the process: its others were not run`;
        const others = othersOfSuite(known.cases, done, suite);
        for (const other of others) yield { ...other, verdict: "skipped", reason };
        done += others.length;
        if (done >= known.cases.length) return;
        // The process goes on with these; another one begins behind them.
        if (others.length > 0) break;
      }
      if (end === "complete") return;
      // The last batch that came is not counted, and as many cases may have run after it. Behind a lost case there is often another.
      if (batch > 1) singly = 2 * batch;
    } finally {
      child.kill("SIGKILL");
    }
  }
}

function suiteOf({ name }: CaseStart): string {
  return name.slice(0, name.indexOf("/"));
}

/** The cases from a place on that are of a suite, up to the first of another one. */
function othersOfSuite(cases: readonly CaseStart[], from: number, suite: string): readonly CaseStart[] {
  const end = cases.findIndex((one, place) => place >= from && suiteOf(one) !== suite);
  return cases.slice(from, end < 0 ? cases.length : end);
}

/**
 * The results of one process. The last one is the result of the case that ended the process, or "unclear" if that case
 * is not known, or "complete".
 */
async function* resultsOf(
  child: ChildProcess,
  singly: number,
  { silence, startup = 120_000, onProgress }: IsolationOptions,
  onSilence: () => void,
): AsyncGenerator<CaseResult | "complete" | "unclear"> {
  let hasBegun = false;
  let toCome = singly;
  let current: CaseStart | undefined;
  // Held back until the next word, so that a crash on the way to it counts against them.
  let latest: readonly CaseResult[] = [];
  for await (const message of wordsOf(child, () => (hasBegun ? silence : startup + silence))) {
    if (message.kind === "lost" && message.isSilent && toCome > 0) onSilence();
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
      yield { ...current, verdict: "failed", reason: `the process ${message.how}`, isLost: true };
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

/** The messages of a process, and how it ended. `limit` returns the milliseconds until the next message is due. */
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
    const timer = setTimeout(
      () => hear({ kind: "lost", how: `did not react for ${patience} ms`, isSilent: true }),
      patience,
    );
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

/** Options of serveResults. */
export interface ServingOptions {
  /** The number of cases that are reported one by one, before batches. Default: all. */
  readonly singly?: number | undefined;
  /** The most results of a batch. Default 1. */
  readonly batch?: number | undefined;
}

/** Milliseconds after which a batch is sent even if it is small. */
const longestBatch = 250;

/**
 * Runs cases in this process, which `runIsolated` has started, and sends their results. `run` receives the callbacks
 * for starts and progress.
 */
export async function serveResults(
  run: (onStart: OnStart, onProgress: OnProgress) => AsyncIterable<CaseResult>,
  { singly = Number.POSITIVE_INFINITY, batch = 1 }: ServingOptions = {},
): Promise<void> {
  // The results of an orphan are not read.
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
      // The begin of the first case is always reported: from then on, silence means a fault.
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
