/**
 * Several queues as one: a batch is divided among them by the names of its inputs. Redis uses one processor, so a load that
 * saturates one is divided among several.
 */
import { createHash } from "node:crypto";
import { joinInOrder } from "../in-order.ts";
import type { Store } from "../store.ts";
import { BatchError } from "../task.ts";
import type { ConnectOptions, QueueAddress } from "./connection.ts";
import type { QueueStatus } from "./control.ts";
import { type BatchQueue, openQueue } from "./queue.ts";
import type { SubmitCounts } from "./submit.ts";

/** Returns the index of an input's queue. The function must not change: submitted inputs lie where it says. */
function queueOf(name: string, count: number): number {
  return createHash("sha256").update(name).digest().readUInt32BE() % count;
}

/** Joins queues to one. The same list in the same order is the same queue. Throws a BatchError if a queue occurs twice. */
function joinQueues(queues: readonly BatchQueue[]): BatchQueue {
  const [first, ...more] = queues;
  if (first === undefined) throw new BatchError("there is no queue");
  if (more.length === 0) return first;
  const places = queues.map(({ place }) => place);
  const twice = places.find((place, index) => places.indexOf(place) !== index);
  if (twice !== undefined) throw new BatchError(`the queue at ${twice} is given twice`);
  const all = <Result>(work: (queue: BatchQueue) => Promise<Result>): Promise<Result[]> =>
    Promise.all(queues.map(work));
  return {
    place: places.join(", "),
    store: storeOf(queues),
    async submit({ names, onProgress, ...submission }) {
      const counts: SubmitCounts[] = queues.map(() => ({ queued: 0, known: 0, unreadable: 0 }));
      const parts = queues.map(async (queue, place) => {
        counts[place] = await queue.submit({
          ...submission,
          async *names() {
            for await (const name of names()) if (queueOf(name, queues.length) === place) yield name;
          },
          onProgress(part) {
            counts[place] = { ...part };
            onProgress?.(sumCounts(counts));
          },
        });
      });
      await Promise.all(parts);
      return sumCounts(counts);
    },
    async ids() {
      return [...new Set((await all((queue) => queue.ids())).flat())];
    },
    async status(id) {
      const each = await all((queue) => queue.status(id));
      const [one] = each;
      if (one === undefined) throw new BatchError("there is no queue");
      return {
        record: one.record,
        ...sumCounts(each.map(countsOf)),
        isCancelled: each.some(({ isCancelled }) => isCancelled),
        isComplete: each.every(({ isComplete }) => isComplete),
      };
    },
    async queueStatus() {
      return sumCounts<QueueStatus>(await all((queue) => queue.queueStatus()));
    },
    async withoutJob(id) {
      return total(await all((queue) => queue.withoutJob(id)));
    },
    inputs: (id, folder) => joinInOrder(queues.map((queue) => queue.inputs(id, folder))),
    async failed(id, most) {
      return (await all((queue) => queue.failed(id, most))).flat().slice(0, most);
    },
    async retry(id, chunk) {
      return total(await all((queue) => queue.retry(id, chunk)));
    },
    async cancel(id) {
      return total(await all((queue) => queue.cancel(id)));
    },
    async remove(id) {
      await all((queue) => queue.remove(id));
    },
    work(options) {
      const workers = queues.map((queue) => queue.work(options));
      return {
        async close(grace) {
          await Promise.all(workers.map((worker) => worker.close(grace)));
        },
      };
    },
    async close() {
      await all((queue) => queue.close());
    },
  };
}

/** Connects to several queues as one. Rejects with a BatchError, and then leaves no connection open. */
export async function openQueues(addresses: readonly QueueAddress[], options?: ConnectOptions): Promise<BatchQueue> {
  const opened = await Promise.allSettled(addresses.map((address) => openQueue(address, options)));
  const queues = opened.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  try {
    for (const each of opened) if (each.status === "rejected") throw each.reason;
    return joinQueues(queues);
  } catch (error) {
    await Promise.all(queues.map((queue) => queue.close()));
    throw error;
  }
}

/** Returns a store that writes to all queues: workers of each queue look for models in their own. */
function storeOf(queues: readonly BatchQueue[]): Store {
  const stores = queues.map(({ store }) => store);
  return {
    name: stores.map(({ name }) => name).join(", "),
    async get(digest) {
      for (const store of stores) {
        const bytes = await store.get(digest);
        if (bytes !== undefined) return bytes;
      }
      return undefined;
    },
    async has(digest) {
      return (await Promise.all(stores.map((store) => store.has(digest)))).every(Boolean);
    },
    async put(digest, bytes) {
      await Promise.all(stores.map((store) => store.put(digest, bytes)));
    },
  };
}

function countsOf({ inputs, done, failed, names, unreadable }: Awaited<ReturnType<BatchQueue["status"]>>) {
  return { inputs, done, failed, names, unreadable };
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Adds counts with the same names. */
function sumCounts<Counts extends { readonly [Name in keyof Counts]: number }>(all: readonly Counts[]): Counts {
  const names = Object.keys(all[0] ?? {}) as (keyof Counts)[];
  const sums = names.map((name) => [name, total(all.map((counts) => counts[name]))]);
  // Each has the names of the first.
  return Object.fromEntries(sums) as Counts;
}
