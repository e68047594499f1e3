/**
 * `nnhal batch run`: a batch on this machine, over worker threads; and what is known of the batches in a folder of results.
 */

import {
  createPool,
  type Entry,
  type Journal,
  openJournal,
  openResults,
  type ResultFolder,
  readJournals,
  runBatch,
  type StoredJournal,
  taskDigest,
} from "@nnhal/batch";
import { exitCodes } from "@nnhal/program";
import type { DemoContext, ModelCommandContext } from "../context.ts";
import { failure, usageError } from "../failure.ts";
import { pathFrom } from "../files.ts";
import { fit } from "../fit.ts";
import { createLateProgressBar } from "../progress.ts";
import { formatCount, oneLine, plain } from "../text.ts";
import { outcomeOf } from "./options.ts";
import { type BatchOptions, countNames, type PreparedBatch, prepareBatch, reportFailure } from "./prepare.ts";
import { type BatchItem, formatFailed, mostShown, type PrintOptions, printItems } from "./print.ts";

/** The options of the command, as commander parses them. */
export interface RunBatchOptions extends BatchOptions, PrintOptions {
  readonly results: string;
  readonly threads: number;
  /** Seconds. */
  readonly deadline: number;
}

/** Context of these commands. */
export type BatchContext = ModelCommandContext & Pick<DemoContext, "startThread" | "shared">;

/** Runs a batch to its end. Rejects with a CommandError. */
export async function runBatchCommand(
  path: string,
  inputs: string,
  options: RunBatchOptions,
  context: BatchContext,
): Promise<void> {
  const { cwd, stdout, stderr, setExitCode, onInterrupt, shared, startThread } = context;
  const batch = await prepareBatch(path, inputs, options, context);
  const folder = pathFrom(cwd, options.results);
  const total = await countNames(batch.source);
  if (total === 0) throw usageError(`there are no inputs in ${inputs}`);
  const bar = createLateProgressBar(stderr, total);
  const pool = createPool({
    threads: Math.min(options.threads, total),
    start: () => startThread({ ...shared, cwd }),
    deadline: options.deadline * 1000,
    onNote: (note) => stderr.write(`nnhal batch: note: ${oneLine(note)}\n`),
  });
  const stop = new AbortController();
  const stopListening = onInterrupt?.(() => stop.abort());
  let journal: Journal | undefined;
  try {
    await reportFailure(async () => {
      const results = await openResults(folder, batch.digest);
      journal = await openJournal(folder, {
        ...{ id: batch.id, task: batch.task, model: path, inputs: batch.source.path },
        created: Date.now(),
      });
      const counts = await runBatch({
        ...{ source: batch.source, journal, results, pool, signal: stop.signal },
        task: { task: batch.digest, options: batch.task.options, model: async () => batch.model },
        onInput: (name, { known, computed, failed }) => bar.moveTo(known + computed + failed, plain(name)),
      });
      bar.stop();
      if (options.csv || options.json) await printItems(itemsOf(journal, results), options, stdout, stderr);
      else
        stdout.write(
          fit(summary(batch, counts, options.results) + (await failedText(journal, counts.failed)), stdout.columns),
        );
      if (stop.signal.aborted) throw failure("stopped; the same command goes on");
      if (counts.failed > 0) setExitCode(exitCodes.usage);
    });
  } finally {
    bar.stop();
    stopListening?.();
    await journal?.close();
    await pool.close();
  }
}

function summary(
  { id }: PreparedBatch,
  { known, computed, failed }: { readonly known: number; readonly computed: number; readonly failed: number },
  folder: string,
): string {
  const parts = [`${computed} computed`, `${known} already known`, `${failed} failed`].join(", ");
  return `batch    ${id}\ninputs   ${formatCount(known + computed + failed, "input")}: ${parts}\nresults  ${plain(folder)}; nnhal batch results ${plain(folder)} prints them\n`;
}

/** The first inputs that failed, of so many. */
async function failedText(journal: StoredJournal, count: number): Promise<string> {
  if (count === 0) return "";
  const shown: Entry[] = [];
  for await (const entry of journal.entries()) {
    if (entry.problem !== undefined) shown.push(entry);
    if (shown.length === mostShown) break;
  }
  return formatFailed(shown, count);
}

/** The inputs of a journal with their results, in the order of their names. */
async function* itemsOf(journal: StoredJournal, results: ResultFolder): AsyncGenerator<BatchItem> {
  for await (const { name, digest, problem } of journal.entries()) {
    const record = digest === undefined || problem !== undefined ? undefined : await results.get(digest);
    yield { name, problem, ...(record && { outcome: outcomeOf(record.result) }) };
  }
}

/** Prints the results in a folder: of its last batch, or of the one of an id. */
export async function printFolder(
  folder: string,
  { id, ...options }: PrintOptions & { readonly id?: string | undefined },
  { cwd, stdout, stderr }: BatchContext,
): Promise<void> {
  await reportFailure(async () => {
    const journals = await readJournals(pathFrom(cwd, folder));
    const journal = id === undefined ? journals.at(-1) : journals.find(({ head }) => head.id === id);
    if (journal === undefined)
      throw usageError(`the folder ${folder} has no ${id === undefined ? "batch" : `batch ${id}`}`);
    const results = await openResults(pathFrom(cwd, folder), taskDigest(journal.head.task));
    await printItems(itemsOf(journal, results), options, stdout, stderr);
  });
}
