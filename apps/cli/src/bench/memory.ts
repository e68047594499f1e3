/**
 * What preparing and running a network takes of memory: growth of the process at its peak, and JavaScript heap for each run.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

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

/** Runs that one measurement of the heap is of. Few enough that the youngest objects fit the heap without a collection. */
const runs = 20;
const measurements = 5;

/** Bytes of JavaScript heap that a run allocates: the least of some measurements, since compilers and collections disturb them. */
export async function heapForEachRun(run: () => Promise<void> | void): Promise<number> {
  const found: number[] = [];
  for (let measurement = 0; measurement < measurements; measurement++) {
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let done = 0; done < runs; done++) await run();
    const used = process.memoryUsage().heapUsed - before;
    if (used >= 0) found.push(used / runs);
  }
  return Math.min(...found);
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
