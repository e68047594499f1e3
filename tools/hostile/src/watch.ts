/**
 * Watches a program under attack: whether it lives, for how long it does not answer, and what memory it has. The clock of a busy machine says
 * little, so a silence counts by the processor time that the program's main thread takes in it; one in which it takes none counts after 30 s.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { Target } from "./surface.ts";

/** Observations of a watched process. */
export interface Watched {
  /** The longest silence: milliseconds of processor time of the main thread, and of the clock. */
  readonly busy: number;
  readonly silent: number;
  /** The most bytes that were resident; undefined where the system does not say. */
  readonly peak: number | undefined;
  readonly problems: readonly string[];
}

export interface Limits {
  /** Milliseconds of processor time that the main thread may take before it answers. */
  readonly busy: number;
  /** Milliseconds of the clock. */
  readonly silent: number;
}

export const defaultLimits: Limits = { busy: 1000, silent: 30_000 };

/** Milliseconds between an answer and the next question. */
const pause = 20;

/** Watches until the result is called. */
export function watch(target: Target, limits: Limits = defaultLimits): () => Promise<Watched> {
  const { pid } = target.program.child;
  const problems: string[] = [];
  let busy = 0;
  let silent = 0;
  let isOver = false;
  resetPeak(pid);
  const isGone = () => target.program.child.exitCode !== null || target.program.child.signalCode !== null;
  const askOnce = async () => {
    const [began, beganBusy] = [performance.now(), mainThreadTime(pid)];
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer in ${limits.silent} ms`)), limits.silent);
    });
    try {
      await Promise.race([target.ask(), late]);
    } catch (error) {
      if (!isGone()) problems.push(`does not answer: ${error instanceof Error ? error.message : error}`);
    } finally {
      clearTimeout(timer);
    }
    const ended = mainThreadTime(pid);
    silent = Math.max(silent, performance.now() - began);
    if (beganBusy !== undefined && ended !== undefined) busy = Math.max(busy, ended - beganBusy);
  };
  const watching = (async () => {
    // Ends with the attack, or with the program.
    while (!isOver && !isGone()) {
      await askOnce();
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  })();
  return async () => {
    isOver = true;
    await watching;
    const peak = peakOf(pid);
    if (isGone()) {
      const { exitCode, signalCode } = target.program.child;
      problems.push(`has ended: ${signalCode ?? exitCode}: ${target.program.output.stderr.slice(-2000)}`);
    }
    if (busy > limits.busy) problems.push(`computed for ${Math.round(busy)} ms before it answered`);
    if (peak !== undefined && peak > target.memoryLimit) {
      problems.push(`had ${mebibytes(peak)} MiB resident; ${mebibytes(target.memoryLimit)} are the most`);
    }
    return { busy, silent, peak, problems };
  };
}

export function mebibytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}

/** Milliseconds of processor time that the main thread of a process has had; undefined where the system does not say. */
export function mainThreadTime(pid: number | undefined): number | undefined {
  const text = readProc(`${pid}/task/${pid}/schedstat`);
  return text === undefined ? undefined : Number(text.split(" ")[0]) / 1e6;
}

/** Milliseconds that a thread of a process has computed, and has waited for a processor. */
export interface ThreadTime {
  readonly computed: number;
  readonly waited: number;
}

/** The times of all threads of a process, by their ids; empty where the system does not say. */
export function threadTimesOf(pid: number | undefined): ReadonlyMap<string, ThreadTime> {
  const times = new Map<string, ThreadTime>();
  for (const id of threadsOf(pid)) {
    const [computed = 0, waited = 0] = (readProc(`${pid}/task/${id}/schedstat`) ?? "").split(" ").map(Number);
    times.set(id, { computed: computed / 1e6, waited: waited / 1e6 });
  }
  return times;
}

function threadsOf(pid: number | undefined): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** The most bytes that a process has had resident since `resetPeak`; undefined where the system does not say. */
export function peakOf(pid: number | undefined): number | undefined {
  const [, kibibytes] = /VmHWM:\s+(\d+) kB/.exec(readProc(`${pid}/status`) ?? "") ?? [];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}

/** The bytes that a process has resident; undefined where the system does not say. */
export function residentOf(pid: number | undefined): number | undefined {
  const [, kibibytes] = /VmRSS:\s+(\d+) kB/.exec(readProc(`${pid}/status`) ?? "") ?? [];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}

function resetPeak(pid: number | undefined): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
  } catch {
    // The peak then counts from the start of the process.
  }
}

function readProc(path: string): string | undefined {
  try {
    return readFileSync(`/proc/${path}`, "utf8");
  } catch {
    return undefined;
  }
}
