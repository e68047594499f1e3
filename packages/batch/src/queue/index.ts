/**
 * @nnhal/batch/queue: batches over many machines, through BullMQ and Redis.
 */

export type { ConnectOptions, QueueAddress } from "./connection.ts";
export type { BatchInput, BatchStatus, QueueStatus } from "./control.ts";
export type { LedgerCounts } from "./ledger.ts";
export { type BatchQueue, openQueue } from "./queue.ts";
export { openQueues } from "./queues.ts";
export type { BatchRecord } from "./shapes.ts";
export type { Submission, SubmitCounts } from "./submit.ts";
export type { QueueWorker, WorkerEvent, WorkerOptions } from "./worker.ts";
