/**
 * Memory that preparing and running a network takes: growth of the process at its peak, and JavaScript heap for each run.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { PerformanceObserver } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { quantile } from "./statistics.ts";

/** Measures the peak of this process. */
export interface MemoryMeter {
  /** Bytes by which the resident memory has grown at most since the meter was made. */
  growth(): number;
}

/** Bytes of a line of /proc/self/status such as `VmHWM:  1234 kB`; undefined on systems that have none. */
function statusBytes(name: string): number | undefined {
  try {
    const found = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(readFileSync("/proc/self/status", "utf8"));
    return found === null ? undefined : Number(found[1]) * 1024;
  } catch {
    return undefined;
  }
}

/** Lets the peak start again from what is resident now, if the system can do that. */
function resetPeak(): void {
  try {
    writeFileSync("/proc/self/clear_refs", "5");
  } catch {
    // The peak then is that of the whole process, which is never too small.
  }
}

/** Starts to measure. What is garbage now is collected first. */
export function createMemoryMeter(): MemoryMeter {
  collectGarbage();
  resetPeak();
  const before = statusBytes("VmRSS") ?? process.memoryUsage.rss();
  const peak = () => statusBytes("VmHWM") ?? process.resourceUsage().maxRSS * 1024;
  return { growth: () => Math.max(0, peak() - before) };
}

/**
 * Runs that one measurement of the heap is of, and runs before it: a collection of everything also removes code that is compiled again.
 * The youngest objects of so few runs fit the heap without a collection.
 */
const usual = { runs: 20, before: 10, measurements: 7 };

/** Milliseconds that the measurements of the heap should take. */
const HEAP_TIME = 10_000;

/** The number of runs that measure the heap, from the milliseconds of one: fewer if it is long, at least 2. */
export function heapRuns(milliseconds: number): { runs: number; before: number; measurements: number } {
  const affordable = Math.floor(HEAP_TIME / milliseconds);
  const { runs, before, measurements } = usual;
  if (affordable >= measurements * (runs + before)) return usual;
  // Fewer runs of each measurement, then fewer measurements.
  const each = Math.max(2, Math.floor(affordable / measurements));
  const first = Math.max(1, Math.floor((each * before) / (runs + before)));
  return {
    runs: each - first,
    before: first,
    measurements: Math.min(measurements, Math.max(1, Math.floor(affordable / each))),
  };
}

/**
 * Bytes of JavaScript heap that a run allocates: the median of measurements that no collection disturbed; null if there is none.
 * `milliseconds`: what a run takes. Default: little.
 */
export async function heapForEachRun(run: () => Promise<void> | void, milliseconds = 0): Promise<number | null> {
  const { runs, before: runsBefore, measurements } = heapRuns(milliseconds);
  let collections = 0;
  const observer = new PerformanceObserver((list) => {
    collections += list.getEntries().length;
  });
  observer.observe({ entryTypes: ["gc"] });
  const found: number[] = [];
  for (let measurement = 0; measurement < measurements; measurement++) {
    collectGarbage();
    for (let done = 0; done < runsBefore; done++) await run();
    await awaitReports();
    const collectionsBefore = collections;
    const before = process.memoryUsage().heapUsed;
    for (let done = 0; done < runs; done++) await run();
    const used = process.memoryUsage().heapUsed - before;
    await awaitReports();
    if (collections === collectionsBefore) found.push(used / runs);
  }
  observer.disconnect();
  return found.length === 0 ? null : quantile(found, 0.5);
}

/** Resolves when the observer knows of all collections until now: they are reported in turns of the event loop. */
async function awaitReports(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
}

let collect: (() => void) | undefined;

function collectGarbage(): void {
  if (collect === undefined) {
    setFlagsFromString("--expose-gc");
    const gc: unknown = runInNewContext("gc");
    collect = typeof gc === "function" ? () => void gc() : () => {};
  }
  collect();
}
