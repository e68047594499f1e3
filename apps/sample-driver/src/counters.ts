/**
 * The counters of a worker that the main thread shows: numbers in shared memory, so that a computing worker need not be asked.
 * Only the worker of a device writes; the main thread does when there is none.
 */

/** Upper bounds of the buckets of execution times, in seconds; one more bucket has the rest. */
export const latencyBounds = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
] as const;

const names = [
  "executions",
  "failures",
  /** Seconds of all executions. */
  "seconds",
  "models",
  "buffers",
  "mappedBytes",
  "clients",
  /** Times that the event loop of the worker has turned: it grows while the worker lives. */
  "beats",
] as const;

/** The name of a number. */
export type CounterName = (typeof names)[number];

/** See the file's head. */
export interface Counters {
  readonly memory: SharedArrayBuffer;
  get(name: CounterName): number;
  add(name: CounterName, amount: number): void;
  /** Sets a number to 0. */
  reset(name: CounterName): void;
  /** Counts an execution and its time. */
  countExecution(seconds: number, hasFailed: boolean): void;
  /** The executions in each bucket, the last one above all bounds. */
  readonly latencies: readonly number[];
}

/** Counters in a memory of their own, or in one of another thread. */
export function createCounters(
  memory = new SharedArrayBuffer((names.length + latencyBounds.length + 1) * Float64Array.BYTES_PER_ELEMENT),
): Counters {
  const values = new Float64Array(memory);
  const place = (name: CounterName) => names.indexOf(name);
  const increase = (index: number, amount: number) => {
    values[index] = (values[index] ?? 0) + amount;
  };
  return {
    memory,
    get: (name) => values[place(name)] ?? 0,
    add: (name, amount) => increase(place(name), amount),
    reset(name) {
      values[place(name)] = 0;
    },
    countExecution(seconds, hasFailed) {
      increase(place("executions"), 1);
      if (hasFailed) increase(place("failures"), 1);
      increase(place("seconds"), seconds);
      const bucket = latencyBounds.findIndex((bound) => seconds <= bound);
      increase(names.length + (bucket < 0 ? latencyBounds.length : bucket), 1);
    },
    get latencies() {
      return [...values.subarray(names.length)];
    },
  };
}
