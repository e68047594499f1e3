/**
 * Submission of the inputs of a batch to the queue, in chunks. The job is added before the entries of its inputs: whenever it
 * ends, inputs with an entry have been queued, and the next submission queues the rest.
 */
import { type FileMark, markOf, readInput, readingProblem } from "../inputs.ts";
import { BatchError, digestOf } from "../task.ts";
import { jobOptions } from "./chunk-worker.ts";
import type { ChunkData, Connection } from "./connection.ts";
import { type Change, type Ledger, LostBatch, nameText, openLedger, repliesOf, shortenDigest } from "./ledger.ts";
import { type BatchRecord, expectId, readRecord } from "./shapes.ts";

/** A batch to submit. */
export interface Submission {
  readonly record: BatchRecord;
  names(): AsyncIterable<string>;
  /** Number of inputs in a job. */
  readonly chunk: number;
  /** Called after each chunk of names. */
  readonly onProgress?: ((counts: SubmitCounts) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Number of names by outcome. */
export interface SubmitCounts {
  /** Contents that are new to the batch. */
  readonly queued: number;
  /** Contents that the batch has already, under this name or another. */
  readonly known: number;
  readonly unreadable: number;
}

/** Maximum bytes of base64 of waiting jobs with inline inputs; two jobs may always wait. */
const mostInlineBytes = 2 ** 28;
const inlinePause = 200;

/** Remedy for a batch that was lost. */
const again = "the same nnhal batch submit begins it anew";

/** A name after its look-up. */
type Looked =
  | (FileMark & { readonly name: string; readonly input: string; readonly bytes?: Uint8Array })
  | { readonly name: string; readonly problem: string };

/**
 * Submits a batch, or continues it. Commands wait while Redis is unavailable. Rejects with a BatchError if Redis does not keep
 * waiting data.
 */
export async function submitBatch(connection: Connection, submission: Submission): Promise<SubmitCounts> {
  const { record, chunk, onProgress, signal } = submission;
  const { eviction, place } = connection;
  if (eviction !== undefined)
    throw new BatchError(`the queue at ${place} takes no batch while it may lose it: ${eviction}`);
  // Fails for values that workers would reject.
  readRecord(JSON.stringify(record), record.id);
  expectId(record.id);
  const ledger = openLedger(connection, record.id);
  await ledger.begin(record);
  const epoch = await ledger.epoch();
  const counts = { queued: 0, known: 0, unreadable: 0 };
  const mark = (changes: readonly Change[]) =>
    ledger.mark(changes).catch((error: unknown) => {
      if (error instanceof LostBatch)
        throw new BatchError(`${error.message}, as after a start of Redis without its data; ${again}`);
      throw error;
    });
  for await (const names of divideIntoChunks(submission.names(), chunk)) {
    if (signal?.aborted) return counts;
    const looked = await lookAt(names, record, ledger);
    const readable = looked.flatMap((one) => ("problem" in one ? [] : [one]));
    const states = await ledger.states(readable.map(({ input }) => input));
    const fresh = new Map<string, (typeof readable)[number]>();
    for (const [place, one] of readable.entries()) if (states[place] === undefined) fresh.set(one.input, one);
    const inputs = await Promise.all([...fresh.values()].map((one) => chunkInput(one, record)));
    if (record.inline) await waitForRoom(connection, inputs);
    await addChunk(connection, { batch: record.id, inputs }, epoch);
    await mark(inputs.map(([, input]): Change => ({ to: "queued", input })));
    await note(connection, ledger, looked);
    counts.queued += fresh.size;
    counts.known += readable.length - fresh.size;
    counts.unreadable += looked.length - readable.length;
    onProgress?.(counts);
  }
  await mark([{ to: "complete" }]);
  return counts;
}

/** Adds a job, if it has inputs. The same inputs are the same job: a second one is not added while the first waits or runs. */
export async function addChunk({ queue }: Connection, data: ChunkData, epoch: string): Promise<void> {
  if (data.inputs.length === 0) return;
  const content = digestOf([epoch, ...data.inputs.map(([, digest]) => digest)].join(" ")).slice(0, 24);
  await queue.add("chunk", data, { ...jobOptions, jobId: `${data.batch}-${content}` });
}

/** Looks up the digests of names. A file that has not changed since its last reading is not read. */
async function lookAt(names: readonly string[], { root }: BatchRecord, ledger: Ledger): Promise<Looked[]> {
  const known = await ledger.names(names);
  return Promise.all(
    names.map(async (name, place): Promise<Looked> => {
      try {
        const mark = await markOf(root, name);
        const before = known[place];
        if (before !== undefined && before.size === mark.size && before.changed === mark.changed)
          return { name, ...before };
        const bytes = await readInput(root, name);
        return { name, ...mark, input: shortenDigest(digestOf(bytes)), bytes };
      } catch (error) {
        return { name, problem: readingProblem(name, error) };
      }
    }),
  );
}

async function chunkInput(
  { name, input, bytes }: { readonly name: string; readonly input: string; readonly bytes?: Uint8Array },
  { inline, root }: Pick<BatchRecord, "inline" | "root">,
): Promise<ChunkData["inputs"][number]> {
  if (!inline) return [name, input];
  return [name, input, Buffer.from(bytes ?? (await readInput(root, name))).toString("base64")];
}

async function note({ redis }: Connection, { keys }: Ledger, looked: readonly Looked[]): Promise<void> {
  const named = looked.flatMap((one) => ("problem" in one ? [] : [one]));
  const unreadable = looked.flatMap((one) => ("problem" in one ? [one.name, one.problem] : []));
  const pipeline = redis.pipeline();
  if (named.length > 0) {
    pipeline.hset(keys.names, ...named.flatMap((one) => [one.name, nameText(one)]));
    pipeline.hdel(keys.unreadable, ...named.map(({ name }) => name));
  }
  if (unreadable.length > 0) pipeline.hset(keys.unreadable, ...unreadable);
  await repliesOf(pipeline);
}

/** Waits until jobs with inline inputs do not fill Redis. */
async function waitForRoom({ queue }: Connection, inputs: ChunkData["inputs"]): Promise<void> {
  const size = inputs.reduce((sum, [, , bytes = ""]) => sum + bytes.length, 1);
  const most = Math.max(2, Math.floor(mostInlineBytes / size));
  while ((await queue.getWaitingCount()) >= most) await new Promise((resolve) => setTimeout(resolve, inlinePause));
}

/** Divides a sequence into parts. */
export async function* divideIntoChunks<Item>(items: AsyncIterable<Item>, size: number): AsyncGenerator<Item[]> {
  let part: Item[] = [];
  for await (const item of items) {
    part.push(item);
    if (part.length < size) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}
