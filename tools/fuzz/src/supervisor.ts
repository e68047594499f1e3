/**
 * Runs inputs in a separate process and watches it. An input that takes too much processor time, is never answered or ends the
 * process is found from the record that the process wrote before the run, and a new process continues.
 */
import { fork } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Built } from "./build.ts";
import { type Report, stateHeader, type Task } from "./protocol.ts";
import { createWatch } from "./watch.ts";

/** Target and limits of a run. */
export interface SuperviseOptions extends Omit<Task, "stateFile" | "target"> {
  readonly target: string;
  readonly built: Built;
  /** Milliseconds without an answer, and without using the processor, after which an input counts as never answered. */
  readonly silenceLimit: number;
  /** MiB of the heap of JavaScript. */
  readonly heapLimit: number;
  /** Where inputs are written that found something. */
  readonly failures: string;
  onProgress(progress: Progress): void;
  onFound(finding: Finding): void;
}

/** Progress of a run. */
export interface Progress {
  readonly executions: number;
  /** Places reached. */
  readonly places: number;
  readonly corpus: number;
  readonly memory: number;
  readonly found: number;
}

/** Something that must not happen. */
export interface Finding {
  readonly kind: "error" | "hang" | "crash";
  readonly message: string;
  /** The input's file. */
  readonly file: string;
}

/** Outcome of a run. */
export interface Outcome {
  readonly executions: number;
  readonly findings: readonly Finding[];
  /** Numbers of the places that were reached. */
  readonly reached: ReadonlySet<number>;
}

const lookEveryMs = 100;
/** Processes that end at once, over and over, find nothing more. */
const mostRestarts = 200;

/** Runs a target until its time is over, or its files are. */
export async function supervise(options: SuperviseOptions): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "nnhal-fuzz-"));
  const findings = new Map<string, Finding>();
  const reached = new Set<number>();
  let executions = 0;
  const add = (key: string, finding: Omit<Finding, "file">, input: Uint8Array, file?: string) => {
    if (findings.has(key)) return;
    const path = file ?? join(options.failures, `${options.target}-${finding.kind}-${key}`);
    if (file === undefined) {
      mkdirSync(options.failures, { recursive: true });
      writeFileSync(path, input);
    }
    const complete = { ...finding, file: path };
    findings.set(key, complete);
    options.onFound(complete);
  };
  try {
    let files = options.files;
    for (let run = 0; run <= mostRestarts; run++) {
      const stateFile = join(folder, `state-${run}`);
      const { target, corpusFolder, until, cpuLimit, memoryLimit } = options;
      const seed = options.seed + run;
      const base = executions;
      const end = await runOnce(
        { target, corpusFolder, until, cpuLimit, memoryLimit, seed, files, stateFile },
        options,
        (report) => {
          if (report.kind === "progress") {
            executions = base + report.executions;
            const { places, corpus, memory } = report;
            options.onProgress({ executions, places, corpus, memory, found: findings.size });
          } else if (report.kind === "found") {
            const key = report.file === undefined ? report.key : `${report.key} ${report.file}`;
            add(key, { kind: "error", message: report.message }, Buffer.from(report.base64, "base64"), report.file);
          } else {
            executions = base + report.executions;
            for (const place of report.reached) reached.add(place);
          }
        },
      );
      if (end === "done") break;
      const input = lastInput(stateFile);
      const { number, hasEnded } = input;
      if (number === 0) throw new Error(`the process did not start: ${end.message}`);
      executions = base + number;
      const file = files?.[number - 1];
      const key = file === undefined ? keyOf(end, input.bytes) : `${end.kind} ${file}`;
      const { kind } = end;
      const after = hasEnded ? `behind its end, by what it left or by the fuzzer itself: ${end.message}` : end.message;
      add(key, { kind, message: after }, input.bytes, file);
      files = files?.slice(number);
      if (files === undefined ? Date.now() >= until : files.length === 0) break;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { executions, findings: [...findings.values()], reached };
}

/** End of a process that did not report completion. */
type End = Omit<Finding, "file">;

function keyOf({ kind }: End, input: Uint8Array): string {
  let hash = 0;
  for (const byte of input) hash = (Math.imul(hash, 31) + byte) >>> 0;
  return `${kind}-${hash.toString(16)}`;
}

async function runOnce(
  task: Task,
  { built, silenceLimit, heapLimit }: SuperviseOptions,
  onReport: (report: Report) => void,
): Promise<"done" | End> {
  const child = fork(built.program, [JSON.stringify(task)], {
    execArgv: [`--max-old-space-size=${heapLimit}`, "--enable-source-maps"],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let isDone = false;
  let hang: string | undefined;
  let errors = "";
  child.stderr?.setEncoding("utf8");
  child.stderr?.on("data", (text: string) => {
    errors = (errors + text).slice(-4000);
  });
  child.on("message", (report: Report) => {
    if (report.kind === "done") isDone = true;
    onReport(report);
  });
  const look = createWatch({ cpuLimit: task.cpuLimit, silenceLimit, lookEvery: lookEveryMs });
  const timer = setInterval(() => {
    hang ??= look({ number: lastInput(task.stateFile).number, ...processState(child.pid) });
    if (hang !== undefined) child.kill("SIGKILL");
  }, lookEveryMs);
  const [code, signal] = await new Promise<readonly [number | null, string | null]>((resolve) => {
    child.on("error", (error) => {
      errors += error.message;
    });
    child.on("close", (...end) => resolve(end));
  });
  clearInterval(timer);
  if (isDone) return "done";
  if (hang !== undefined) return { kind: "hang", message: hang };
  return { kind: "crash", message: `the process ended with ${signal ?? `code ${code}`}\n${errors.trim()}` };
}

/** Content of the state file. */
interface LastInput {
  /** From 1; 0 if no input was begun. */
  readonly number: number;
  readonly bytes: Uint8Array;
  readonly hasEnded: boolean;
}

/** The last input that was begun. */
function lastInput(stateFile: string): LastInput {
  const none: LastInput = { number: 0, bytes: new Uint8Array(0), hasEnded: false };
  try {
    const state = readFileSync(stateFile);
    if (state.length < stateHeader) return none;
    const bytes = state.subarray(stateHeader, stateHeader + state.readUInt32LE(4));
    return { number: state.readUInt32LE(0), bytes, hasEnded: state.readUInt32LE(8) === 1 };
  } catch {
    // Not written yet.
    return none;
  }
}

/** State of a process, as the system reports it. */
interface ProcessState {
  /** Milliseconds. */
  readonly cpu: number;
  readonly isWaiting: boolean;
}

/** If the system has no such file, the time of day stands for the processor's, and the process counts as waiting. */
function processState(pid: number | undefined): ProcessState {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { cpu: (Number(fields[11]) + Number(fields[12])) * 10, isWaiting: fields[0] === "S" || fields[0] === "D" };
  } catch {
    return { cpu: Date.now(), isWaiting: true };
  }
}
