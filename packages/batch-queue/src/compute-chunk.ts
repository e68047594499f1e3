/**
 * Computes the inputs of a chunk, and says in the ledger what became of each. What has a result is not computed again.
 */
import { stat } from "node:fs/promises";
import { BatchError, digestOf, messageOf, type Places, type Pool, readInput, readingProblem } from "@nnhal/batch";
import type { ChunkData } from "./connection.ts";
import { type Change, type Ledger, lengthened } from "./ledger.ts";
import type { OpenedTask } from "./open-task.ts";
import type { BatchRecord } from "./shapes.ts";

/** Results are handed on at least every second. */
const flushInterval = 1000;

/** Rejects with a BatchError if a folder of inputs may not be used or is not there: then this machine is at fault, and another one may see them. */
async function expectFolder(root: string, places: Places): Promise<void> {
  await places.folder(root, "the folder of the inputs");
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
  /** Where the inputs lie on this machine. Default: as the batch says. */
  readonly root: string | undefined;
  readonly places: Places;
}

/** Computes the inputs of a chunk that have no result. Rejects with a BatchError if the chunk has to come again. */
export async function computeChunk(
  { inputs }: ChunkData,
  { ledger, record, task: { task, results, prepare }, pool, signal, places, root = record.root }: ChunkContext,
): Promise<{ readonly computed: number; readonly known: number; readonly failed: number }> {
  const counts = { computed: 0, known: 0, failed: 0 };
  const states = await ledger.states(inputs.map(([, input]) => input));
  const open = inputs.filter((_, place) => states[place]?.kind !== "done");
  counts.known = inputs.length - open.length;
  // A file that stands in for a result is read again when its input's turn comes.
  const lacks = async ([, input]: ChunkData["inputs"][number]) => !(await results?.has(lengthened(input)));
  for (const input of open) {
    if (!(await lacks(input))) continue;
    await prepare();
    break;
  }
  if (open.some(([, , inline]) => inline === undefined)) await places.folder(root, "the folder of the inputs");
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
    const bytes =
      inline === undefined ? await readInput(root, name, places) : new Uint8Array(Buffer.from(inline, "base64"));
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
      if (inline === undefined) await expectFolder(root, places);
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
