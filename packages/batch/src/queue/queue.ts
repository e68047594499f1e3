/** A queue with its batches: one object for submitting, querying and working. */

import type { Store } from "../store.ts";
import { BatchError } from "../task.ts";
import {
  type Connection,
  type ConnectOptions,
  connect,
  isLeft,
  isReply,
  type QueueAddress,
  replyText,
} from "./connection.ts";
import {
  type BatchInput,
  type BatchStatus,
  batchIds,
  batchInputs,
  batchStatus,
  cancelBatch,
  failedInputs,
  inputsWithoutJob,
  type QueueStatus,
  queueStatus,
  removeBatch,
  retryBatch,
} from "./control.ts";
import { createRedisStore } from "./redis-store.ts";
import { type Submission, type SubmitCounts, submitBatch } from "./submit.ts";
import { type QueueWorker, startWorker, type WorkerOptions } from "./worker.ts";

/** A queue with its batches. Methods that take an id reject with a BatchError if there is no such batch. */
export interface BatchQueue {
  /** Address for messages, without the password. */
  readonly place: string;
  /** The Redis of the queue as a store of models. */
  readonly store: Store;
  /** Puts the inputs of a batch into the queue, or continues an earlier submission. */
  submit(submission: Submission): Promise<SubmitCounts>;
  /** Returns the ids of all batches, the oldest first. */
  ids(): Promise<readonly string[]>;
  status(id: string): Promise<BatchStatus>;
  queueStatus(): Promise<QueueStatus>;
  /**
   * Returns the number of inputs of a batch that wait although the queue has no job for them: those that `retry` queues again.
   */
  withoutJob(id: string): Promise<number>;
  /** Yields all inputs, in the order of their names. `folder`: folder of the results on this machine. Default: the batch's. */
  inputs(id: string, folder?: string): AsyncGenerator<BatchInput>;
  /** Returns inputs that failed; at most `most`. */
  failed(id: string, most: number): Promise<readonly BatchInput[]>;
  /**
   * Queues again failed inputs, in chunks of so many, and waiting ones if the queue has no job of the batch. Resolves to the
   * number of inputs.
   */
  retry(id: string, chunk: number): Promise<number>;
  /** Removes the jobs of a batch from the queue. Resolves to their number. */
  cancel(id: string): Promise<number>;
  /** Cancels a batch, and removes all its data from Redis. */
  remove(id: string): Promise<void>;
  /** Begins to compute. Throws a BatchError if `allow` has an address that is not valid. */
  work(options: WorkerOptions): QueueWorker;
  close(): Promise<void>;
}

/** Connects to a queue. Rejects with a BatchError. */
export async function openQueue(address: QueueAddress, options?: ConnectOptions): Promise<BatchQueue> {
  const connection: Connection = await connect(address, options);
  /** Turns an error that Redis answers, such as full memory, into one that the user can understand. */
  const explainRedisError = (error: unknown) => {
    if (isReply(error)) return new BatchError(replyText(connection.place, error));
    return isLeft(error) ? new BatchError(`the queue at ${connection.place} is away, and was not waited for`) : error;
  };
  const ask = async <Result>(work: Promise<Result>): Promise<Result> =>
    work.catch((error: unknown) => {
      throw explainRedisError(error);
    });
  const store = createRedisStore(connection);
  return {
    place: connection.place,
    store: {
      name: store.name,
      get: (digest) => ask(store.get(digest)),
      has: (digest) => ask(store.has(digest)),
      put: (digest, bytes) => ask(store.put(digest, bytes)),
    },
    submit: (submission) => ask(submitBatch(connection, submission)),
    ids: () => ask(batchIds(connection)),
    status: (id) => ask(batchStatus(connection, id)),
    withoutJob: (id) => ask(inputsWithoutJob(connection, id)),
    queueStatus: () => ask(queueStatus(connection)),
    async *inputs(id, folder) {
      try {
        yield* batchInputs(connection, id, folder);
      } catch (error) {
        throw explainRedisError(error);
      }
    },
    failed: (id, most) => ask(failedInputs(connection, id, most)),
    retry: (id, chunk) => ask(retryBatch(connection, id, chunk)),
    cancel: (id) => ask(cancelBatch(connection, id)),
    remove: (id) => ask(removeBatch(connection, id)),
    work: (worker) => startWorker(connection, worker),
    close: () => connection.close(),
  };
}
