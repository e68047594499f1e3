/** A batch on this machine: inputs are read here and computed in as many threads as there are. */
import { expectKnownOptions, type OptionNames } from "@nnhal/operations";
import { type InputSource, markOf, readInput, readingProblem } from "./inputs.ts";
import type { Journal } from "./journal.ts";
import type { Pool, PoolTask } from "./pool.ts";
import type { ResultFolder } from "./results.ts";
import { digestOf } from "./task.ts";

/** Options of a run. */
export interface BatchRun {
  readonly source: InputSource;
  readonly journal: Journal;
  readonly results: ResultFolder;
  readonly pool: Pool;
  readonly task: PoolTask;
  /** Called after each input. */
  readonly onInput?: ((name: string, counts: BatchCounts) => void) | undefined;
  /** When it aborts, no further input begins. */
  readonly signal?: AbortSignal | undefined;
}

const runOptions: OptionNames<BatchRun> = {
  ...{ source: true, journal: true, results: true, pool: true, task: true, onInput: true, signal: true },
};

/** Number of inputs by outcome. */
export interface BatchCounts {
  /** Had results already: from this batch or another with the same task, or from the same content under another name. */
  readonly known: number;
  readonly computed: number;
  readonly failed: number;
}

/**
 * Runs a batch. Resolves when every input has a result or a reason. Rejects with a BatchError if the batch cannot continue
 * (finished results stay), and with a RangeError for an unknown option.
 */
export async function runBatch(run: BatchRun): Promise<BatchCounts> {
  expectKnownOptions("runBatch", run, runOptions);
  const { source, journal, results, pool, task, onInput, signal } = run;
  const counts = { known: 0, computed: 0, failed: 0 };
  /** By digest: the same input under another name waits for the first. */
  const running = new Map<string, Promise<string | undefined>>();

  const computeOnce = async (name: string, digest: string, bytes: Uint8Array): Promise<string | undefined> => {
    const computed = await pool.compute(task, { name, bytes });
    if ("problem" in computed) return computed.problem;
    await results.put(digest, computed);
    return undefined;
  };
  const one = async (name: string): Promise<keyof BatchCounts> => {
    const before = journal.before(name);
    const unreadable = (error: unknown) => ({ problem: readingProblem(name, error) });
    const mark = await markOf(source.root, name).catch(unreadable);
    if ("problem" in mark) {
      await journal.add({ name, size: 0, changed: 0, ...mark });
      return "failed";
    }
    const isSame = before?.size === mark.size && before.changed === mark.changed && before.problem === undefined;
    if (isSame && before.digest !== undefined && (await results.has(before.digest))) return "known";
    const bytes = await readInput(source.root, name).catch(unreadable);
    if ("problem" in bytes) {
      await journal.add({ name, ...mark, ...bytes });
      return "failed";
    }
    const digest = digestOf(bytes);
    if (await results.has(digest)) {
      await journal.add({ name, ...mark, digest });
      return "known";
    }
    const first = running.get(digest);
    const work = first ?? computeOnce(name, digest, bytes);
    running.set(digest, work);
    try {
      const problem = await work;
      await journal.add({ name, ...mark, digest, ...(problem !== undefined && { problem }) });
      if (problem !== undefined) return "failed";
      return first === undefined ? "computed" : "known";
    } finally {
      running.delete(digest);
    }
  };
  const names = source.names()[Symbol.asyncIterator]();
  let failure: { readonly error: unknown } | undefined;
  const worker = async () => {
    while (failure === undefined && signal?.aborted !== true) {
      const next = await names.next();
      if (next.done) return;
      counts[await one(next.value)]++;
      onInput?.(next.value, counts);
    }
  };
  // One more for each thread: its input is read while the thread computes.
  const workers = Array.from({ length: 2 * pool.threads }, () =>
    worker().catch((error: unknown) => {
      failure ??= { error };
    }),
  );
  await Promise.all(workers);
  if (failure !== undefined) throw failure.error;
  return counts;
}
