/** The targets of stress, after the crash tests of Android's MLTS. */
import type { StressJob } from "./job.ts";

/** A target. */
export interface StressTarget {
  readonly name: string;
  readonly says: string;
  readonly work: StressJob["work"];
  readonly models: "common" | "random";
  /** Number of processes that work at the same time; 0: this one does. */
  readonly processes: number;
  readonly lanes: number;
  /** The part of the processes that is killed between a quarter and a half of the time. */
  readonly killed: number;
}

const plain = { work: "infer", models: "common", processes: 1, lanes: 8, killed: 0 } as const;

export const stressTargets: readonly StressTarget[] = [
  { ...plain, name: "parallel-inference", says: "many executions at once, in a process of its own" },
  { ...plain, name: "parallel-inference-in-process", says: "the same in this process", processes: 0 },
  { ...plain, name: "multi-process-inference", says: "the same in several processes", processes: 4, lanes: 6 },
  {
    ...plain,
    name: "multi-process-inference-killed",
    says: "several processes, most of which are killed",
    processes: 5,
    lanes: 6,
    killed: 0.8,
  },
  {
    ...plain,
    name: "client-early-termination",
    says: "a process that prepares models is killed",
    work: "load",
    lanes: 4,
    killed: 1,
  },
  {
    ...plain,
    name: "multi-process-model-load",
    says: "models are prepared in several processes",
    work: "load",
    processes: 4,
    lanes: 6,
  },
  {
    ...plain,
    name: "model-load-random",
    says: "random models of all operations are prepared",
    work: "load",
    models: "random",
    lanes: 2,
  },
  { ...plain, name: "inference-random", says: "and executed", models: "random", lanes: 2 },
  {
    ...plain,
    name: "performance-degradation",
    says: "executions beside a process that prepares models, and alone",
    lanes: 1,
  },
  {
    ...plain,
    name: "memory-growth",
    says: "a process does not grow while it prepares and executes",
    work: "grow",
    lanes: 2,
  },
];
