/** Batches of a queue: their status, their results, and retrying, cancelling and removing them. */
import { inOrder } from "../in-order.ts";
import { readInput } from "../inputs.ts";
import { openResults, type ResultFolder } from "../results.ts";
import { BatchError, type Json, taskDigest } from "../task.ts";
import type { ChunkData, Connection } from "./connection.ts";
import {
  batchesKey,
  type Change,
  droppedKey,
  type InputState,
  type Ledger,
  type LedgerCounts,
  lengthenDigest,
  nameOf,
  openLedger,
  stateOf,
} from "./ledger.ts";
import { modelKey } from "./redis-store.ts";
import { type BatchRecord, readResult, ShapeError } from "./shapes.ts";
import { addChunk, divideIntoChunks } from "./submit.ts";

/** Status of a batch. */
export interface BatchStatus extends LedgerCounts {
  readonly record: BatchRecord;
  readonly isCancelled: boolean;
  /** True if a submission is complete. */
  readonly isComplete: boolean;
}

/** Status of the whole queue: jobs, each a chunk of inputs, and workers. */
export interface QueueStatus {
  readonly waiting: number;
  readonly active: number;
  /** Jobs that wait for a retry. */
  readonly delayed: number;
  /** Jobs that workers have dropped, since they were not chunks of a batch, or their batch was damaged. */
  readonly dropped: number;
  readonly workers: number;
}

/** An input by its name: its result, or the reason why there is none; neither: it waits. */
export interface BatchInput {
  readonly name: string;
  readonly result?: Json;
  readonly problem?: string;
}

/** Returns the ids of all batches, the oldest first. */
export async function batchIds({ redis, name }: Connection): Promise<readonly string[]> {
  return redis.zrange(batchesKey(name), "0", "-1");
}

export async function queueStatus({ queue, redis, name }: Connection): Promise<QueueStatus> {
  const { waiting = 0, active = 0, delayed = 0 } = await queue.getJobCounts("waiting", "active", "delayed");
  const dropped = Number(await redis.get(droppedKey(name)));
  return { waiting, active, delayed, dropped, workers: await queue.getWorkersCount() };
}

/**
 * Lists of jobs that are not computed yet, in the order in which a job goes through them, some twice: it may move meanwhile.
 */
const lists = ["wait", "paused", "active", "delayed", "wait", "active"] as const;

/** Returns true if the queue has jobs of a batch. A job that moves from one list to another meanwhile may be overlooked. */
async function hasJobs({ queue, redis }: Connection, id: string): Promise<boolean> {
  const pageSize = 1000;
  for (const list of lists) {
    const key = queue.toKey(list);
    for (let start = 0; ; start += pageSize) {
      const end = start + pageSize - 1;
      const ids =
        list === "delayed" ? await redis.zrange(key, String(start), String(end)) : await redis.lrange(key, start, end);
      if (ids.some((each) => each.startsWith(`${id}-`))) return true;
      if (ids.length < pageSize) break;
    }
  }
  return false;
}

/** Milliseconds between two checks of a queue that seems to have no jobs of a batch. */
const lookAgain = 100;

/**
 * Returns the number of inputs of a batch that wait although the queue has no job for them, as after a Redis that has lost
 * jobs; 0 if there is a job. Rejects with a BatchError if there is no batch of that id.
 */
export async function inputsWithoutJob(connection: Connection, id: string): Promise<number> {
  const { ledger } = await findBatch(connection, id);
  let before: number | undefined;
  for (let looks = 0; looks < 3; looks++) {
    const { inputs, done, failed } = await ledger.counts();
    const open = inputs - done - failed;
    // Inputs that were computed meanwhile had a job.
    if (open <= 0 || (before !== undefined && open !== before) || (await hasJobs(connection, id))) return 0;
    before = open;
    await new Promise((resolve) => setTimeout(resolve, lookAgain));
  }
  return before ?? 0;
}

/** Returns the status of a batch. Rejects with a BatchError if there is no batch of that id. */
export async function batchStatus(connection: Connection, id: string): Promise<BatchStatus> {
  const { ledger, record } = await findBatch(connection, id);
  const counts = await ledger.counts();
  const lost = counts.done + counts.failed - counts.inputs;
  // A batch that is being removed no longer exists.
  if (lost > 0 && (await ledger.record()) !== undefined) {
    const what = `the states of at least ${lost} inputs of the batch ${id}`;
    throw new BatchError(
      `the queue at ${connection.place} has lost ${what}, as a Redis does that removes keys when its memory is full; nnhal batch cancel --remove removes the rest`,
    );
  }
  return { record, ...counts };
}

async function findBatch(connection: Connection, id: string): Promise<{ ledger: Ledger; record: BatchRecord }> {
  const ledger = openLedger(connection, id);
  const record = await ledger.record().catch((error: unknown) => {
    if (!(error instanceof ShapeError)) throw error;
    const where = `the batch ${id} in the queue ${connection.name} at ${connection.place}`;
    throw new BatchError(`${where} is damaged: ${error.message}; nnhal batch cancel --remove removes it`);
  });
  if (record === undefined)
    throw new BatchError(`the queue ${connection.name} at ${connection.place} has no batch ${id}`);
  return { ledger, record };
}

/** Yields all inputs, in the order of their names. `folder`: folder of the results on this machine. Default: the batch's. */
export async function* batchInputs(connection: Connection, id: string, folder?: string): AsyncGenerator<BatchInput> {
  const { ledger, record } = await findBatch(connection, id);
  const place = folder ?? record.results;
  const results = place === undefined ? undefined : await openResults(place, taskDigest(record.task));
  // A hash can return an entry twice while it grows.
  for await (const page of divideIntoChunks(inOrder(entriesOf(ledger)), 100)) {
    const states = await ledger.states(page.flatMap(({ input }) => input ?? []));
    for (const { name, input, problem } of page) {
      if (input === undefined) yield { name, ...(problem !== undefined && { problem }) };
      else yield { name, ...(await outcomeOf(connection, ledger, states.shift(), input, results)) };
    }
  }
}

/** Yields all names, with their inputs or the reasons why they have none. */
async function* entriesOf(
  ledger: Ledger,
): AsyncGenerator<{ readonly name: string; readonly input?: string; readonly problem?: string }> {
  for await (const page of ledger.scan("names"))
    for (const [name, text] of page) yield { name, input: nameOf(text).input };
  for await (const page of ledger.scan("unreadable")) for (const [name, problem] of page) yield { name, problem };
}

async function outcomeOf(
  { redis }: Connection,
  { keys }: Ledger,
  state: InputState | undefined,
  input: string,
  results: ResultFolder | undefined,
): Promise<Omit<BatchInput, "name">> {
  if (state?.kind === "failed") return { problem: state.reason };
  if (state?.kind !== "done") return {};
  if (state.place === undefined) {
    const kept = await results?.get(lengthenDigest(input));
    return kept === undefined
      ? { problem: `its result is not in ${results === undefined ? "Redis" : "the folder"}` }
      : { result: kept.result };
  }
  const [entry] = await redis.xrange(keys.stream, state.place, state.place);
  const [, text] = entry?.[1].slice(2) ?? [];
  return text === undefined ? { problem: "its result was removed from the stream" } : resultOf(text);
}

function resultOf(text: string): Omit<BatchInput, "name"> {
  try {
    return { result: readResult(text) };
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    return { problem: `its result in Redis is damaged: ${error.message}` };
  }
}

/** Returns inputs that failed, with their reasons; at most `most`. */
export async function failedInputs(connection: Connection, id: string, most: number): Promise<readonly BatchInput[]> {
  const { ledger } = await findBatch(connection, id);
  const list: BatchInput[] = [];
  for await (const page of ledger.scan("unreadable"))
    for (const [name, problem] of page) if (list.length < most) list.push({ name, problem });
  const { failed } = await ledger.counts();
  if (failed === 0 || list.length >= most) return list;
  for await (const page of ledger.scan("names")) {
    const states = await ledger.states(page.map(([, text]) => nameOf(text).input));
    for (const [place, [name]] of page.entries()) {
      const state = states[place];
      if (state?.kind === "failed") list.push({ name, problem: state.reason });
      if (list.length >= most) return list;
    }
  }
  return list;
}

/**
 * Queues again the inputs that failed, and those that wait if the queue has no job of the batch. Resolves to their number.
 * Rejects with a BatchError if their bytes must travel in the jobs and cannot be read here.
 */
export async function retryBatch(connection: Connection, id: string, chunk: number): Promise<number> {
  const { ledger, record } = await findBatch(connection, id);
  const isEmpty = (await inputsWithoutJob(connection, id)) > 0;
  const epoch = await ledger.renew();
  const seen = new Set<string>();
  const choose = async function* () {
    for await (const page of ledger.scan("names")) {
      const entries = page.map(([name, text]) => ({ name, input: nameOf(text).input }));
      const states = await ledger.states(entries.map(({ input }) => input));
      for (const [place, { name, input }] of entries.entries()) {
        const kind = states[place]?.kind ?? "queued";
        if (seen.has(input) || !(kind === "failed" || (kind === "queued" && isEmpty))) continue;
        seen.add(input);
        yield { name, input };
      }
    }
  };
  for await (const part of divideIntoChunks(choose(), chunk)) {
    const inputs = await Promise.all(
      part.map(async ({ name, input }): Promise<ChunkData["inputs"][number]> => {
        if (!record.inline) return [name, input];
        const bytes = await readInput(record.root, name).catch((error: unknown) => {
          throw new BatchError(`the input ${name} travels in its job, and cannot be read here: ${error}`);
        });
        return [name, input, Buffer.from(bytes).toString("base64")];
      }),
    );
    await ledger.mark(inputs.map(([, input]): Change => ({ to: "queued again", input })));
    await addChunk(connection, { batch: id, inputs }, epoch);
  }
  return seen.size;
}

/**
 * Removes the jobs of a batch from the queue; workers abandon chunks that they have begun. Results stay. Resolves to the number
 * of removed jobs.
 */
export async function cancelBatch(connection: Connection, id: string): Promise<number> {
  const { queue } = connection;
  const { ledger } = await findBatch(connection, id);
  await ledger.cancel();
  let taken = 0;
  let others = 0;
  while (true) {
    const page = await queue.getJobs(["waiting", "delayed"], others, others + 499);
    if (page.length === 0) break;
    for (const job of page) {
      // A worker may have taken it in between.
      if (job?.data.batch === id && job.id !== undefined && (await queue.remove(job.id)) === 1) taken++;
      else others++;
    }
  }
  for await (const page of ledger.scan("states")) {
    const waiting = page.filter(([, text]) => stateOf(text)?.kind === "queued");
    await ledger.mark(waiting.map(([input]): Change => ({ to: "dropped", input })));
  }
  return taken;
}

/**
 * Cancels a batch and removes all its data from Redis, including the model if no other batch needs it. Results in folders stay.
 */
export async function removeBatch(connection: Connection, id: string): Promise<void> {
  const { redis, name } = connection;
  const ledger = openLedger(connection, id);
  const recordOf = (other: string) =>
    openLedger(connection, other)
      .record()
      .catch((error: unknown) => {
        if (error instanceof ShapeError) return undefined;
        throw error;
      });
  const record = await recordOf(id);
  // A damaged record cannot identify its jobs.
  if (record === undefined && !(await batchIds(connection)).includes(id)) await findBatch(connection, id);
  if (record !== undefined) await cancelBatch(connection, id);
  await redis.zrem(batchesKey(name), id);
  const { record: key, names, unreadable, states, stream } = ledger.keys;
  await redis.unlink(key, names, unreadable, states, stream);
  const others = await Promise.all((await batchIds(connection)).map(recordOf));
  if (record === undefined) return;
  const isNeeded = others.some((other) => other?.task.model === record.task.model && other.store === undefined);
  if (!isNeeded) await redis.unlink(modelKey(name, record.task.model));
}
