/**
 * The tasks of batches: the model, its store, and the destination of results. Models come from stores that a queue names, some
 * slowly: a chunk whose model is slow makes room for others.
 */
import type { Places } from "../places.ts";
import type { PoolTask } from "../pool.ts";
import { openResults, type ResultFolder } from "../results.ts";
import { checkedGet, openStore } from "../store.ts";
import { BatchError, taskDigest } from "../task.ts";
import type { Connection } from "./connection.ts";
import { createRedisStore } from "./redis-store.ts";
import type { BatchRecord } from "./shapes.ts";

/** A task with the destination of its results. */
export interface OpenedTask {
  readonly task: PoolTask;
  /** Folder of results; undefined: the stream. */
  readonly results: ResultFolder | undefined;
  /** Begins to fetch the model, and waits for it for some time. Rejects with a NotYet if it does not arrive. */
  prepare(): Promise<void>;
}

/** A resource of a chunk is still loading. The chunk comes again. */
export class NotYet extends BatchError {}

/** Options for opening tasks. */
export interface TaskOptions {
  readonly places: Places;
  /** Folder of the results and store of the models on this machine. Default: each batch's. */
  readonly results?: string | undefined;
  readonly store?: string | undefined;
  /** Maximum bytes of a model. Default 512 MiB. */
  readonly modelBytes?: number | undefined;
  /** Milliseconds for which a chunk waits for its model. Default 5000. */
  readonly modelPatience?: number | undefined;
}

/** Number of last batches whose tasks and models are remembered. */
const kept = 4;
/** Maximum number of models that are fetched from stores at a time. */
const mostFetches = 4;

/** Creates a function that opens tasks, and remembers those of the last batches. */
export function taskOpener(
  connection: Connection,
  { places, results, store, modelBytes: bytes, modelPatience = 5000 }: TaskOptions,
): (record: BatchRecord) => Promise<OpenedTask> {
  const opened = new Map<string, Promise<OpenedTask>>();
  const models = new Map<string, Uint8Array>();
  const fetches = new Map<string, Promise<Uint8Array>>();
  let fromStores = 0;
  const remember = <Value>(map: Map<string, Value>, key: string, value: Value): Value => {
    map.delete(key);
    map.set(key, value);
    for (const oldest of map.keys()) if (map.size > kept) map.delete(oldest);
    return value;
  };
  const fetchModel = async (digest: string, address: string | undefined): Promise<Uint8Array> => {
    if (address === undefined) return checkedGet(createRedisStore(connection), digest);
    return checkedGet(await openStore(address, { places, limits: bytes === undefined ? {} : { bytes } }), digest);
  };
  /** Fetches a model. Concurrent requests for one model from one place share the fetch. */
  const modelOf = (digest: string, address: string | undefined): Promise<Uint8Array> => {
    const known = models.get(digest);
    if (known !== undefined) return Promise.resolve(remember(models, digest, known));
    const key = JSON.stringify([digest, address]);
    const begun = fetches.get(key);
    if (begun !== undefined) return begun;
    // Stores do not delay the queue's own Redis.
    const isStore = address !== undefined;
    if (isStore && fromStores >= mostFetches) return Promise.reject(new NotYet("other models are being fetched"));
    if (isStore) fromStores++;
    const fetched = fetchModel(digest, address)
      .then((model) => remember(models, digest, model))
      .finally(() => {
        if (isStore) fromStores--;
        fetches.delete(key);
      });
    fetches.set(key, fetched);
    return fetched;
  };
  const open = async ({ task, store: storeOfBatch, results: ofBatch }: BatchRecord): Promise<OpenedTask> => {
    const digest = taskDigest(task);
    const address = store ?? storeOfBatch;
    const folder = ofBatch === undefined ? undefined : await places.folder(results ?? ofBatch, "the folder of results");
    const model = () => modelOf(task.model, address);
    return {
      task: { task: digest, options: task.options, model },
      results: folder === undefined ? undefined : await openResults(folder, digest),
      prepare: () => inTime(model(), modelPatience),
    };
  };
  return (record) => {
    // A later submission may have moved the store.
    const key = JSON.stringify([record.task, record.store, record.results]);
    const task = remember(opened, key, opened.get(key) ?? open(record));
    task.catch(() => opened.delete(key));
    return task;
  };
}

/** Waits for work for some milliseconds; the work continues. Rejects with a NotYet if it is not done by then. */
async function inTime(work: Promise<unknown>, patience: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NotYet("its model is still being fetched")), patience);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
