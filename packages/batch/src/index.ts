/**
 * @nnhal/batch: many inputs through one network, once each by content.
 */
export { inOrder } from "./in-order.ts";
export { type FileMark, type InputSource, openInputs, readInput } from "./inputs.ts";
export { type BatchHead, type Entry, type Journal, openJournal, readJournals, type StoredJournal } from "./journal.ts";
export type { Answer, Computer, Input, Opening, Request } from "./messages.ts";
export { createPlaces, type Places, type Reach } from "./places.ts";
export { type BatchThread, createPool, type Pool, type PoolOptions, type PoolTask } from "./pool.ts";
export { openResults, type ResultFolder } from "./results.ts";
export { type BatchCounts, type BatchRun, runBatch } from "./run-batch.ts";
export { type OpenTask, serveBatch } from "./serve.ts";
export {
  createFolderStore,
  ensureIn,
  openStore,
  type Store,
  type StoreLimits,
  type StoreOptions,
} from "./store.ts";
export {
  BatchError,
  type Computed,
  digestOf,
  type Json,
  messageOf,
  type Problem,
  type ResultRecord,
  type Task,
  taskDigest,
} from "./task.ts";
