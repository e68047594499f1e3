/**
 * A worker takes chunks from the queue and computes their inputs. A chunk may come again, because a worker ended or Redis was
 * unavailable; inputs with a result are not computed again, and states change once. Jobs that are not chunks are dropped, and
 * repeated chunks wait before.
 */

import { expectKnownOptions, type OptionNames } from "@nnhal/operations";
import { DelayedError, type Job, WaitingError } from "bullmq";
import { createPlaces } from "../places.ts";
import type { Pool } from "../pool.ts";
import { BatchError, messageOf } from "../task.ts";
import { ChunkWorker, jobOptions, repairJob, repairJobs } from "./chunk-worker.ts";
import { computeChunk } from "./compute-chunk.ts";
import { type ChunkData, type Connection, isReply, replyText } from "./connection.ts";
import { type Change, droppedKey, LostBatch, openLedger } from "./ledger.ts";
import { NotYet, taskOpener } from "./open-task.ts";
import { readChunk, ShapeError } from "./shapes.ts";
import { addChunk } from "./submit.ts";

/** Options of a worker. */
export interface WorkerOptions {
  readonly pool: Pool;
  /** Milliseconds after which another worker takes the job of a worker that has ended. The lock is renewed at half of it. */
  readonly lock: number;
  /** Places of inputs, results and models on this machine. Default: each batch's. */
  readonly root?: string | undefined;
  readonly results?: string | undefined;
  readonly store?: string | undefined;
  /**
   * Folders and addresses (`https://HOST/PATH`) where batches may have inputs, results and models, in addition to those above.
   * Default: folders that are neither the system's nor hidden, and stores at addresses of the public network.
   */
  readonly allow?: readonly string[] | undefined;
  /** Maximum bytes of a model. Default 512 MiB. */
  readonly modelBytes?: number | undefined;
  /** Milliseconds for which a chunk waits for its model before it makes room for others. Default 5000. */
  readonly modelPatience?: number | undefined;
  readonly onEvent?: ((event: WorkerEvent) => void) | undefined;
}

const workerOptions: OptionNames<WorkerOptions> = {
  ...{ pool: true, lock: true, root: true, results: true, store: true },
  ...{ allow: true, modelBytes: true, modelPatience: true, onEvent: true },
};

/** An event for a log. */
export type WorkerEvent =
  | {
      readonly kind: "chunk";
      readonly batch: string;
      readonly computed: number;
      readonly known: number;
      readonly failed: number;
    }
  | { readonly kind: "again"; readonly batch: string; readonly reason: string }
  | { readonly kind: "divided"; readonly batch: string; readonly inputs: number }
  | { readonly kind: "given back"; readonly batch: string }
  /** Jobs that are not chunks of a batch, or whose batch is damaged: their number since the last event with this reason. */
  | { readonly kind: "dropped"; readonly jobs: number; readonly reason: string }
  | { readonly kind: "trouble"; readonly reason: string };

/** A running worker. */
export interface QueueWorker {
  /** Takes no more chunks, and resolves when the current ones are done, or given back after `grace` milliseconds. */
  close(grace: number): Promise<void>;
}

/** Number of worker deaths after which a chunk is divided, and after which a single input is given up. */
const endsOfChunk = 2;
const endsOfInput = 3;
/** Milliseconds without new chunks after Redis has refused a command: the first pause, and the longest. */
const firstPause = 2000;
const longestPause = 16_000;
/** Milliseconds in which the same error is reported once. */
const troubleInterval = 60_000;
/** Milliseconds of delay before a chunk comes again: the first, and the longest. */
const firstRest = 1000;
const longestRest = 60_000;
/** Number of concurrent chunks: one is computed while the next is fetched. */
const chunksAtOnce = 2;

/** Begins to work. Throws a BatchError if `allow` has an address that is not valid, and a RangeError for an unknown option. */
export function startWorker(connection: Connection, options: WorkerOptions): QueueWorker {
  expectKnownOptions("work", options, workerOptions);
  const { pool, lock, allow, root, results, store, onEvent = () => {} } = options;
  const stop = new AbortController();
  const own = [root, results, store].filter((place) => place !== undefined);
  const places = createPlaces(allow, own);
  const openTask = taskOpener(connection, { ...options, places });
  const textOf = (error: unknown) => (isReply(error) ? replyText(connection.place, error) : messageOf(error));
  const tell = onceInAWhile((reason) => onEvent({ kind: "trouble", reason }));
  const dropped = onceInAWhile((reason, jobs) => onEvent({ kind: "dropped", jobs, reason }));
  const drop = async (reason: string) => {
    dropped.add(reason);
    // The counter is only informative.
    await connection.redis.incr(droppedKey(connection.name)).catch(() => {});
  };
  const giveBack = async (job: Job<unknown>, token: string): Promise<never> => {
    // If Redis refuses even this, the lock expires.
    await job.moveToWait(token).catch(() => {});
    throw new WaitingError();
  };
  /** Lets a chunk come again later, which does not count as an attempt. */
  const putOff = async (job: Job<unknown>, token: string): Promise<never> => {
    await job.moveToDelayed(Date.now() + restOf(job.attemptsStarted), token).catch(() => {});
    throw new DelayedError();
  };

  const compute = async (job: Job<unknown>, chunk: ChunkData): Promise<void> => {
    const { batch, inputs } = chunk;
    const ledger = openLedger(connection, batch);
    const record = await ledger.record();
    // A removed or cancelled batch needs no work.
    if (record === undefined || (await ledger.isCancelled())) return;
    if (inputs.length > 1 && job.stalledCounter >= endsOfChunk) {
      for (const input of inputs) await addChunk(connection, { batch, inputs: [input] }, `alone ${job.id}`);
      return onEvent({ kind: "divided", batch, inputs: inputs.length });
    }
    if (inputs.length === 1 && job.stalledCounter >= endsOfInput) {
      const reason = `the worker ended ${job.stalledCounter} times while it computed this input`;
      return await ledger.mark(inputs.map(([, input]): Change => ({ to: "failed", input, reason })));
    }
    const task = await openTask(record);
    const counts = await computeChunk(chunk, { ledger, record, task, pool, signal: stop.signal, root, places });
    if (stop.signal.aborted) throw new BatchError("the worker ends");
    pauses.reset();
    onEvent({ kind: "chunk", batch, ...counts });
  };
  const process = async (job: Job<unknown>, token = ""): Promise<void> => {
    if (worker.isStrange(job) && job.id !== undefined) await repairJob(connection, job.id);
    let chunk: ChunkData;
    try {
      chunk = readChunk(job.data);
    } catch (error) {
      return drop(messageOf(error));
    }
    const { batch, inputs } = chunk;
    try {
      await compute(job, chunk);
    } catch (error) {
      if (stop.signal.aborted) {
        onEvent({ kind: "given back", batch });
        return await giveBack(job, token);
      }
      // Its batch was removed while it was computed.
      if (error instanceof LostBatch) return;
      if (error instanceof ShapeError || isDamage(error))
        return drop(`the batch ${batch} is damaged: ${textOf(error)}`);
      if (error instanceof NotYet) return await putOff(job, token);
      const reason = textOf(error);
      onEvent({ kind: "again", batch, reason });
      // The queue failed, not the chunk: give the chunk back, so that the ledger still accounts for it.
      if (isReply(error)) {
        if (isOfQueue(error)) void pauses.begin();
        return await putOff(job, token);
      }
      // The last attempt: its inputs get the reason, and can be tried again.
      if (job.attemptsMade + 1 < jobOptions.attempts) throw error;
      const changes = inputs.map(([, input]): Change => ({ to: "failed", input, reason }));
      await openLedger(connection, batch)
        .mark(changes)
        .catch(() => putOff(job, token));
    }
  };
  const worker = new ChunkWorker(connection.name, process, {
    connection: connection.redis,
    concurrency: chunksAtOnce,
    lockDuration: lock,
    stalledInterval: lock,
    // Chunks are divided instead.
    maxStalledCount: 1000,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
  });
  const pauses = createPauses(worker);
  worker.on("error", (error) => {
    const isUnread = error instanceof SyntaxError || error instanceof TypeError || isDamage(error);
    if (isUnread) void repairJobs(connection).catch((problem: unknown) => tell.add(textOf(problem)));
    else if (isReply(error)) void pauses.begin();
    // Equal messages of many jobs are reported once.
    tell.add(textOf(error).replace(/\bjob \S+/, "a job"));
  });
  return {
    async close(grace) {
      pauses.close();
      const timer = setTimeout(() => {
        stop.abort();
        // Computations in threads are abandoned: they would take too long.
        void pool.close();
      }, grace);
      await worker.close();
      clearTimeout(timer);
      dropped.end();
    },
  };
}

/** Pauses of a worker: a Redis that refuses commands is asked again after one, while BullMQ would ask at once, as often as it can. */
function createPauses(worker: Pick<ChunkWorker, "pause" | "resume">) {
  let resting: NodeJS.Timeout | undefined;
  let troubles = 0;
  let isClosed = false;
  return {
    /** Begins a pause, longer than the one before, unless there is one. */
    async begin() {
      if (resting !== undefined || isClosed) return;
      const pause = Math.min(longestPause, firstPause * 2 ** troubles++);
      resting = setTimeout(() => {
        resting = undefined;
        if (!isClosed) void worker.resume();
      }, pause);
      await worker.pause(true);
    },
    /** Redis works: the next pause is short. */
    reset() {
      troubles = 0;
    },
    close() {
      isClosed = true;
      clearTimeout(resting);
    },
  };
}

/** Returns the delay in milliseconds of a chunk that was begun so many times. Delays vary at random. */
function restOf(begun: number): number {
  return Math.min(longestRest, firstRest * 2 ** Math.min(begun, 10)) * (0.5 + Math.random() / 2);
}

/** Reports the same text once in an interval, with the number of times. The rest is reported at the end. */
function onceInAWhile(say: (text: string, times: number) => void) {
  const all = new Map<string, { at: number; times: number }>();
  const told = (text: string, entry: { at: number; times: number }) => {
    const { times } = entry;
    entry.at = Date.now();
    entry.times = 0;
    say(text, times);
  };
  const end = () => {
    for (const [text, entry] of all) if (entry.times > 0) told(text, entry);
    all.clear();
  };
  return {
    add(text: string) {
      if (!all.has(text) && all.size >= 100) end();
      const entry = all.get(text) ?? { at: Number.NEGATIVE_INFINITY, times: 0 };
      all.set(text, entry);
      entry.times++;
      if (Date.now() - entry.at >= troubleInterval) told(text, entry);
    },
    end,
  };
}

/**
 * Returns true for an error of a Redis that takes no changes for a time: its memory or disk is full, it reads its files, or
 * another one leads.
 */
function isOfQueue(error: unknown): boolean {
  return isReply(error) && /^(OOM|MISCONF|READONLY|LOADING|BUSY|MASTERDOWN|NOREPLICAS)\b/.test(error.message);
}

/** Returns true for an error that shows unexpected data under the keys of a batch, which is permanent. */
function isDamage(error: unknown): boolean {
  return isReply(error) && /\bWRONGTYPE\b|not an integer|user_script:\d+: attempt to/.test(error.message);
}
