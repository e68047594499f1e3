/**
 * `nnhal batch submit|status|results|retry|cancel`: batches behind a queue.
 */

import { digestOf, ensureIn, type Json, openStore, taskDigest } from "@nnhal/batch";
import type { BatchQueue, BatchStatus } from "@nnhal/batch/queue";
import { exitCodes } from "@nnhal/program";
import { failure, loadPackage, messageOf, usageError } from "../failure.ts";
import { pathFrom } from "../files.ts";
import { fit } from "../fit.ts";
import { createLateProgressBar } from "../progress.ts";
import { columns, formatCount, plain } from "../text.ts";
import { isOutcome, outcomeOf } from "./options.ts";
import { type BatchOptions, countNames, prepareBatch, reportFailure } from "./prepare.ts";
import { type BatchItem, formatFailed, type PrintOptions, printItems } from "./print.ts";
import type { BatchContext } from "./run.ts";

/** Where the queue is, or several among which batches are divided. */
export interface QueueOptions {
  readonly queue: readonly string[];
  readonly queueName: string;
}

/** The options of `submit`, as commander parses them. */
export interface SubmitOptions extends BatchOptions, QueueOptions {
  readonly results?: string;
  readonly store?: string;
  readonly chunk: number;
  readonly inline?: boolean;
  readonly wait?: boolean;
}

/** Milliseconds between two looks at a batch that is waited for. */
const lookInterval = 500;
/** After so many looks, the queue is searched for jobs of the batch. */
const looksForJobs = 4;

const withoutJobs = (id: string, count: number) =>
  `${formatCount(count, "input")} of the batch ${id} ${count === 1 ? "waits" : "wait"}, and the queue has no job for ${count === 1 ? "it" : "them"}, as after a Redis that has lost jobs`;

async function withQueue(
  { queue: urls, queueName: name }: QueueOptions,
  { stderr }: BatchContext,
  work: (queue: BatchQueue) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const { openQueues } = await loadPackage(["bullmq", "ioredis"], "a queue", () => import("@nnhal/batch/queue"));
  await reportFailure(async () => {
    const onTrouble = (text: string) => stderr.write(`nnhal batch: note: ${text}\n`);
    const addresses = urls.map((url) => ({ url, name }));
    const queue = await openQueues(addresses, { onTrouble, signal });
    try {
      await work(queue);
    } finally {
      await queue.close();
    }
  });
}

/** Puts a batch into the queue. */
export async function submitCommand(
  path: string,
  inputs: string,
  options: SubmitOptions,
  context: BatchContext,
): Promise<void> {
  const { cwd, stdout, stderr, setExitCode, onInterrupt } = context;
  const { inline = false, wait = false, raw, draw, results, store: address } = options;
  if ((raw || draw) && results === undefined)
    throw usageError(`${raw ? "--raw" : "--draw"} keeps files: name a folder that the workers see with --results`);
  const { id: idHere, task, model, source } = await prepareBatch(path, inputs, options, context);
  const total = await countNames(source);
  if (total === 0) throw usageError(`there are no inputs in ${inputs}`);
  // Other results are another batch: what is done would not be there.
  const folder = results === undefined ? undefined : pathFrom(cwd, results);
  const id = folder === undefined ? idHere : digestOf(`${idHere} ${folder}`).slice(0, 16);
  const isFolder = address !== undefined && !/^[a-z0-9+]+:/.test(address);
  const place = isFolder ? pathFrom(cwd, address) : address;
  const stop = new AbortController();
  const stopListening = onInterrupt?.(() => stop.abort());
  const submit = async (queue: BatchQueue) => {
    await ensureIn(place === undefined ? queue.store : await openStore(place), task.model, model);
    const bar = createLateProgressBar(stderr, total);
    try {
      const counts = await queue.submit({
        record: {
          ...{ id, task, model: path, root: source.root, inputs: source.path, store: place, inline },
          results: folder,
          created: Date.now(),
        },
        names: source.names,
        chunk: options.chunk,
        onProgress: ({ queued, known, unreadable }) => bar.moveTo(queued + known + unreadable, "queued"),
        signal: stop.signal,
      });
      bar.stop();
      const { queued, known, unreadable } = counts;
      stdout.write(`batch   ${id}\ninputs  ${queued} queued, ${known} already known, ${unreadable} unreadable\n`);
      if (stop.signal.aborted) throw failure("stopped; the same command goes on");
      if (wait) await waitFor(queue, id, stop.signal, context);
      const status = await queue.status(id);
      const failed = await queue.failed(id, 10);
      stdout.write(fit(formatFailed(failed, status.failed + status.unreadable), stdout.columns));
      if (status.failed + status.unreadable > 0) setExitCode(exitCodes.usage);
    } finally {
      bar.stop();
    }
  };
  try {
    await withQueue(options, context, submit, stop.signal);
  } finally {
    stopListening?.();
  }
}

async function waitFor(queue: BatchQueue, id: string, signal: AbortSignal, { stderr }: BatchContext): Promise<void> {
  const first = await queue.status(id);
  const bar = createLateProgressBar(stderr, first.inputs);
  try {
    for (let looks = 1; ; looks++) {
      const { inputs, done, failed, isCancelled } = await queue.status(id).catch((error: unknown) => {
        throw failure(`${messageOf(error)}, which had it before; the same nnhal batch submit begins it anew`);
      });
      bar.moveTo(done + failed, `${done} done, ${failed} failed`);
      if (done + failed >= inputs) return;
      if (isCancelled) throw failure(`the batch ${id} was cancelled`);
      const lost = looks % looksForJobs === 0 ? await queue.withoutJob(id) : 0;
      if (lost > 0) throw failure(`${withoutJobs(id, lost)}; nnhal batch retry ${id} queues them again`);
      if (signal.aborted)
        throw failure("stopped waiting; workers go on, and nnhal batch status tells how far they are");
      await new Promise((resolve) => setTimeout(resolve, lookInterval));
    }
  } finally {
    bar.stop();
  }
}

/** Prints what becomes of a batch, or of all. */
export async function statusCommand(
  id: string | undefined,
  { json = false, ...options }: QueueOptions & { readonly json?: boolean },
  context: BatchContext,
): Promise<void> {
  await withQueue(options, context, async (queue) => {
    const ids = id === undefined ? await queue.ids() : [id];
    const looked = await Promise.all(ids.map((each) => lookAt(queue, each, id !== undefined)));
    const all = looked.flatMap((each) => ("problem" in each ? [] : [each]));
    const whole = await queue.queueStatus();
    const { stdout } = context;
    if (json) return void stdout.write(`${JSON.stringify({ queue: whole, batches: looked.map(statusJson) })}\n`);
    const { waiting, active, delayed, dropped, workers } = whole;
    const facts = `${formatCount(workers, "worker")}; chunks: ${waiting} wait, ${active} are computed, ${delayed} will be tried again`;
    stdout.write(
      fit(
        `queue  ${facts}${dropped > 0 ? `; ${formatCount(dropped, "job")} dropped: not of a batch` : ""}\n`,
        stdout.columns,
      ),
    );
    for (const each of looked)
      if ("problem" in each) stdout.write(`\nbatch  ${plain(each.id)}: ${plain(each.problem)}\n`);
    for (const status of all) {
      const { record, inputs, names, done, failed, unreadable, withoutJob } = status;
      const rows = [
        ["batch", record.id],
        ["model", plain(record.model)],
        ["inputs", `${plain(record.inputs)}: ${formatCount(names, "name")}, ${inputs} different`],
        ["done", `${done} of ${inputs}, ${failed} failed, ${unreadable} unreadable${stateText(status)}`],
        [
          "results",
          record.results === undefined
            ? `stream nnhal:${options.queueName}:batch:${record.id}:results`
            : plain(record.results),
        ],
      ];
      stdout.write(fit(`\n${columns(rows).join("\n")}\n`, stdout.columns));
      if (withoutJob > 0) stdout.write(`${withoutJobs(record.id, withoutJob)}: nnhal batch retry ${record.id}\n`);
      stdout.write(fit(formatFailed(await queue.failed(record.id, 10), failed + unreadable), stdout.columns));
    }
  });
}

type LookedAt = (BatchStatus & { readonly withoutJob: number }) | { readonly id: string; readonly problem: string };

/** Returns the state of a batch. One that is damaged hides no others: its problem is thrown only if it was asked for. */
async function lookAt(queue: BatchQueue, id: string, isAskedFor: boolean): Promise<LookedAt> {
  try {
    const status = await queue.status(id);
    return { ...status, withoutJob: status.isCancelled ? 0 : await queue.withoutJob(id) };
  } catch (error) {
    if (isAskedFor) throw error;
    return { id, problem: messageOf(error) };
  }
}

function stateText({ isCancelled, isComplete }: BatchStatus): string {
  if (isCancelled) return "; cancelled";
  return isComplete ? "" : "; not all are submitted: the same nnhal batch submit goes on";
}

function statusJson(looked: LookedAt) {
  if ("problem" in looked) return looked;
  const { record, ...counts } = looked;
  const { id, model, inputs: source, results, task } = record;
  return { id, model, source, results: results ?? null, task: taskDigest(task), ...counts };
}

/** Prints the results of a batch. */
export async function queueResults(
  id: string,
  { results, ...options }: QueueOptions & PrintOptions & { readonly results?: string },
  context: BatchContext,
): Promise<void> {
  const { cwd, stdout, stderr } = context;
  const folder = results === undefined ? undefined : pathFrom(cwd, results);
  await withQueue(options, context, async (queue) => {
    const items = async function* () {
      for await (const { name, result, problem } of queue.inputs(id, folder))
        yield { name, problem, ...outcomeIn(result) };
    };
    await printItems(items(), options, stdout, stderr);
  });
}

function outcomeIn(result: Json | undefined): Pick<BatchItem, "outcome"> | { readonly problem: string } {
  if (result === undefined) return {};
  return isOutcome(result) ? { outcome: outcomeOf(result) } : { problem: "its result in Redis is not one of nnhal" };
}

/** Queues again what failed. */
export async function retryCommand(
  id: string,
  options: QueueOptions & { readonly chunk: number },
  context: BatchContext,
): Promise<void> {
  await withQueue(options, context, async (queue) => {
    const count = await queue.retry(id, options.chunk);
    context.stdout.write(`${formatCount(count, "input")} queued again\n`);
  });
}

/** Gives up a batch. */
export async function cancelCommand(
  id: string,
  { remove = false, ...options }: QueueOptions & { readonly remove?: boolean },
  context: BatchContext,
): Promise<void> {
  await withQueue(options, context, async (queue) => {
    if (remove) {
      await queue.remove(id);
      return void context.stdout.write(`batch ${id} removed\n`);
    }
    const { done } = await queue.status(id);
    await queue.cancel(id);
    context.stdout.write(`batch ${id} cancelled; ${formatCount(done, "result")} stay\n`);
  });
}
