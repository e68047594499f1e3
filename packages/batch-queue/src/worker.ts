/**
 * A worker: takes chunks from the queue and computes their inputs. A chunk may come again, because a worker ended or Redis was away; what
 * has a result is not computed again, and states change once.
 */
import { stat } from "node:fs/promises";
import {
  BatchError,
  checkedGet,
  digestOf,
  messageOf,
  openResults,
  openStore,
  type Pool,
  type PoolTask,
  type ResultFolder,
  readInput,
  readingProblem,
  taskDigest,
} from "@nnhal/batch";
import { type Job, WaitingError, Worker } from "bullmq";
import { type ChunkData, type Connection, isReply, replyText } from "./connection.ts";
import { type BatchRecord, type Change, type Ledger, lengthened, openLedger } from "./ledger.ts";
import { createRedisStore } from "./redis-store.ts";
import { addChunk } from "./submit.ts";

/** How to work. */
export interface WorkerOptions {
  readonly pool: Pool;
  /** Milliseconds after which a job of a worker that has ended is taken by another. It is renewed in half of it. */
  readonly lock: number;
  /** Where inputs, results and models lie on this machine. Default: as each batch says. */
  readonly root?: string | undefined;
  readonly results?: string | undefined;
  readonly store?: string | undefined;
  readonly onEvent?: ((event: WorkerEvent) => void) | undefined;
}

/** What is worth a line in a log. */
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
  | { readonly kind: "trouble"; readonly reason: string };

/** A worker that runs. */
export interface QueueWorker {
  /** Takes no more chunks, and resolves when those it has are done, or given back after `grace` milliseconds. */
  close(grace: number): Promise<void>;
}

/** A chunk that its workers did not survive is divided after so many ends, and an input alone is given up after so many more. */
const endsOfChunk = 2;
const endsOfInput = 3;
/** Results are handed on at least every second. */
const flushInterval = 1000;
/** Milliseconds without new chunks after Redis has refused a command, and in which the same trouble is told once. */
const pauseAfterTrouble = 2000;
const troubleInterval = 60_000;
/** Chunks at a time: one is computed while the next is fetched. */
const chunksAtOnce = 2;

/** Begins to work. */
export function startWorker(connection: Connection, options: WorkerOptions): QueueWorker {
  const { pool, lock, onEvent = () => {} } = options;
  const stop = new AbortController();
  const openTask = taskOpener(connection, options);
  const textOf = (error: unknown) => (isReply(error) ? replyText(connection.place, error) : messageOf(error));
  const giveBack = async (job: Job<ChunkData>, token: string): Promise<never> => {
    // If Redis takes not even this, the lock runs out.
    await job.moveToWait(token).catch(() => {});
    throw new WaitingError();
  };

  const process = async (job: Job<ChunkData>, token = ""): Promise<void> => {
    const { batch, inputs } = job.data;
    const ledger = openLedger(connection, batch);
    try {
      const record = await ledger.record();
      // A batch that is gone or given up needs no work.
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
      const counts = await computeChunk(job.data, {
        ledger,
        record,
        task,
        pool,
        signal: stop.signal,
        root: options.root,
      });
      if (stop.signal.aborted) throw new BatchError("the worker ends");
      onEvent({ kind: "chunk", batch, ...counts });
    } catch (error) {
      if (stop.signal.aborted) {
        onEvent({ kind: "given back", batch });
        return await giveBack(job, token);
      }
      const reason = textOf(error);
      onEvent({ kind: "again", batch, reason });
      // The chunk is not at fault, and must not be gone without a word in the ledger.
      if (isOfQueue(error)) {
        void rest();
        return await giveBack(job, token);
      }
      // The last attempt: its inputs have the reason, and can be tried again.
      if (job.attemptsMade + 1 < (job.opts.attempts ?? 1)) throw error;
      const changes = inputs.map(([, input]): Change => ({ to: "failed", input, reason }));
      await ledger.mark(changes).catch(() => giveBack(job, token));
    }
  };
  const worker = new Worker<ChunkData>(connection.name, process, {
    connection: connection.redis,
    concurrency: chunksAtOnce,
    lockDuration: lock,
    stalledInterval: lock,
    // Chunks are divided instead.
    maxStalledCount: 1000,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
  });
  /** A Redis that refuses commands is asked again after a while: BullMQ would ask at once, as often as it can. */
  let resting: NodeJS.Timeout | undefined;
  const rest = async () => {
    if (resting !== undefined || isClosing) return;
    resting = setTimeout(() => {
      resting = undefined;
      if (!isClosing) void worker.resume();
    }, pauseAfterTrouble);
    await worker.pause(true);
  };
  let isClosing = false;
  const told = new Map<string, number>();
  worker.on("error", (error) => {
    if (isReply(error)) void rest();
    const reason = textOf(error);
    if (Date.now() - (told.get(reason) ?? Number.NEGATIVE_INFINITY) < troubleInterval) return;
    if (told.size > 100) told.clear();
    told.set(reason, Date.now());
    onEvent({ kind: "trouble", reason });
  });
  return {
    async close(grace) {
      isClosing = true;
      clearTimeout(resting);
      const timer = setTimeout(() => {
        stop.abort();
        // What threads still compute is left: it would take too long.
        void pool.close();
      }, grace);
      await worker.close();
      clearTimeout(timer);
    },
  };
}

/** Whether an error is of a Redis that takes no changes for a time: its memory or disk is full, it reads its files, or another one leads. */
function isOfQueue(error: unknown): boolean {
  return isReply(error) && /^(OOM|MISCONF|READONLY|LOADING|BUSY|MASTERDOWN|NOREPLICAS)\b/.test(error.message);
}

/** A task with where its results go. */
interface OpenedTask {
  readonly task: PoolTask;
  /** undefined: the stream. */
  readonly results: ResultFolder | undefined;
}

/** Opens tasks, and remembers those of the last batches. */
function taskOpener(connection: Connection, options: WorkerOptions): (record: BatchRecord) => Promise<OpenedTask> {
  const opened = new Map<string, Promise<OpenedTask>>();
  const models = new Map<string, Promise<Uint8Array>>();
  const kept = 4;
  const remember = <Value>(
    map: Map<string, Promise<Value>>,
    key: string,
    make: () => Promise<Value>,
  ): Promise<Value> => {
    const value = map.get(key) ?? make();
    map.delete(key);
    map.set(key, value);
    value.catch(() => map.delete(key));
    for (const oldest of map.keys()) if (map.size > kept) map.delete(oldest);
    return value;
  };
  const open = async ({ task, store: storeOfBatch, results: folderOfBatch }: BatchRecord): Promise<OpenedTask> => {
    const digest = taskDigest(task);
    const address = options.store ?? storeOfBatch;
    const folder = folderOfBatch === undefined ? undefined : (options.results ?? folderOfBatch);
    const model = () =>
      remember(models, task.model, async () =>
        checkedGet(address === undefined ? createRedisStore(connection) : await openStore(address), task.model),
      );
    return {
      task: { task: digest, options: task.options, model },
      results: folder === undefined ? undefined : await openResults(folder, digest),
    };
  };
  // A later submission may have moved the store.
  return (record) => remember(opened, JSON.stringify([record.task, record.store, record.results]), () => open(record));
}

/** Rejects with a BatchError if a folder of inputs is not there: then this machine is at fault, and another one may see them. */
async function expectFolder(root: string): Promise<void> {
  await stat(root).catch((error: unknown) => {
    throw new BatchError(
      `the folder of the inputs cannot be read on this machine (nnhal-worker --root): ${messageOf(error)}`,
    );
  });
}

/** What a chunk is computed with. */
interface ChunkContext {
  readonly ledger: Ledger;
  readonly record: BatchRecord;
  readonly task: OpenedTask;
  readonly pool: Pool;
  readonly signal: AbortSignal;
  readonly root: string | undefined;
}

async function computeChunk(
  { inputs }: ChunkData,
  { ledger, record, task: { task, results }, pool, signal, root = record.root }: ChunkContext,
): Promise<{ readonly computed: number; readonly known: number; readonly failed: number }> {
  const counts = { computed: 0, known: 0, failed: 0 };
  const states = await ledger.states(inputs.map(([, input]) => input));
  const open = inputs.filter((_, place) => states[place]?.kind !== "done");
  counts.known = inputs.length - open.length;
  let changes: Change[] = [];
  let flushed = Date.now();
  let isGivenUp = false;
  const flush = async () => {
    const part = changes;
    changes = [];
    flushed = Date.now();
    await ledger.mark(part);
  };
  const bytesOf = async (name: string, input: string, inline: string | undefined) => {
    const bytes = inline === undefined ? await readInput(root, name) : new Uint8Array(Buffer.from(inline, "base64"));
    const actual = digestOf(bytes);
    if (actual === lengthened(input)) return bytes;
    throw new Error(`it has changed since it was submitted: its SHA-256 is ${actual}`);
  };
  const one = async ([name, input, inline]: ChunkData["inputs"][number]): Promise<Change> => {
    const digest = lengthened(input);
    if (await results?.has(digest)) {
      counts.known++;
      return { to: "done", input };
    }
    const failed = (reason: string): Change => {
      counts.failed++;
      return { to: "failed", input, reason };
    };
    const bytes = await bytesOf(name, input, inline).catch(async (error: unknown) => {
      if (inline === undefined) await expectFolder(root);
      return readingProblem(name, error);
    });
    if (typeof bytes === "string") return failed(bytes);
    const computed = await pool.compute(task, { name, bytes });
    if ("problem" in computed) return failed(computed.problem);
    counts.computed++;
    if (results === undefined) return { to: "done", input, result: JSON.stringify(computed.result) };
    await results.put(digest, computed);
    return { to: "done", input };
  };
  const next = open.values();
  const work = async () => {
    for (const input of next) {
      if (signal.aborted || isGivenUp) return;
      const change = await one(input);
      // Not in one expression: a flush in between puts another list in this place.
      changes.push(change);
      if (Date.now() - flushed < flushInterval) continue;
      await flush();
      isGivenUp = await ledger.isCancelled();
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: 2 * pool.threads }, work));
  // What is done is done, also if the rest has to come again.
  await flush();
  for (const worker of workers) if (worker.status === "rejected") throw worker.reason;
  return counts;
}
