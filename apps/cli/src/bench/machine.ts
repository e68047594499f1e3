/**
 * The machine that a benchmark ran on, as far as a reader needs it.
 */
import { arch, availableParallelism, cpus, loadavg, platform, release, totalmem } from "node:os";

/** The machine. */
export interface Machine {
  readonly processor: string;
  /** Processors that this process may use. */
  readonly processors: number;
  readonly memory: number;
  readonly system: string;
  readonly node: string;
  /** Processes that wanted to compute, on average over the minute before the benchmark; 0 on systems that do not count them. */
  readonly load: number;
}

/** This machine. */
export function thisMachine(): Machine {
  const [{ model } = { model: "unknown" }] = cpus();
  return {
    processor: model.trim(),
    processors: availableParallelism(),
    memory: totalmem(),
    system: `${platform()} ${release()} ${arch()}`,
    node: process.version,
    load: loadavg()[0] ?? 0,
  };
}
