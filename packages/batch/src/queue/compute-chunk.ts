/** Computing the inputs of a chunk; the ledger receives the outcome of each. An input with a result is not computed again. */
import { stat } from "node:fs/promises";
import { readInput, readingProblem } from "../inputs.ts";
import type { Places } from "../places.ts";
import type { Pool } from "../pool.ts";
import { BatchError, digestOf, messageOf } from "../task.ts";
import type { ChunkData } from "./connection.ts";
import { type Change, type Ledger, lengthenDigest } from "./ledger.ts";
import type { OpenedTask } from "./open-task.ts";
import type { BatchRecord } from "./shapes.ts";

/** Interval in milliseconds within which results are handed on. */
const flushInterval = 1000;

/**
 * Rejects with a BatchError if a folder of inputs is not permitted or missing: the fault is this machine's, and another one may
 * see the folder.
 */
async function expectFolder(root: string, places: Places): Promise<void> {
  await places.folder(root, "the folder of the inputs");
  await stat(root).catch((error: unknown) => {
    throw new BatchError(
      `the folder of the inputs cannot be read on this machine (nnhal-worker --root): ${messageOf(error)}`,
    );
  });
}

/** Objects that computing a chunk needs. */
interface ChunkContext {
  readonly ledger: Ledger;
  readonly record: BatchRecord;
  readonly task: OpenedTask;
  readonly pool: Pool;
  readonly signal: AbortSignal;
  /** Folder of the inputs on this machine. Default: the batch's. */
  readonly root: string | undefined;
  readonly places: Places;
}

/** Computes the inputs of a chunk that have no result. Rejects with a BatchError if the chunk must come again. */
export async function computeChunk(
  { inputs }: ChunkData,
  { ledger, record, task: { task, results, prepare }, pool, signal, places, root = record.root }: ChunkContext,
): Promise<{ readonly computed: number; readonly known: number; readonly failed: number }> {
  const counts = { computed: 0, known: 0, failed: 0 };
  const states = await ledger.states(inputs.map(([, input]) => input));
  const open = inputs.filter((_, place) => states[place]?.kind !== "done");
  counts.known = inputs.length - open.length;
  // A file that stands in for a result is read again at its input's turn.
  const lacks = async ([, input]: ChunkData["inputs"][number]) => !(await results?.has(lengthenDigest(input)));
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
    if (actual === lengthenDigest(input)) return bytes;
    throw new Error(`it has changed since it was submitted: its SHA-256 is ${actual}`);
  };
  const one = async ([name, input, inline]: ChunkData["inputs"][number]): Promise<Change> => {
    const digest = lengthenDigest(input);
    if (await results?.has(digest)) {
      counts.known++;
      return { to: "done", input };
    }
    const failWith = (reason: string): Change => {
      counts.failed++;
      return { to: "failed", input, reason };
    };
    const bytes = await bytesOf(name, input, inline).catch(async (error: unknown) => {
      if (inline === undefined) await expectFolder(root, places);
      return readingProblem(name, error);
    });
    if (typeof bytes === "string") return failWith(bytes);
    const computed = await pool.compute(task, { name, bytes });
    if ("problem" in computed) return failWith(computed.problem);
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
      // A separate statement: a flush in between replaces the list.
      changes.push(change);
      if (Date.now() - flushed < flushInterval) continue;
      await flush();
      isGivenUp = await ledger.isCancelled();
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: 2 * pool.threads }, work));
  // Finished inputs are flushed, even if the rest must come again.
  await flush();
  for (const worker of workers) if (worker.status === "rejected") throw worker.reason;
  return counts;
}
