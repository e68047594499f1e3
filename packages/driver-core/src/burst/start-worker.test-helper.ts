/**
 * Starts a TypeScript module in a worker thread, from its source.
 */
import { Worker } from "node:worker_threads";
import { fromSource } from "@nnhal/test-kit/from-source";

/** A worker, and a promise of its end: rejected where the module throws. */
export function startWorker(
  module: URL,
  workerData: unknown,
  transferList: readonly import("node:worker_threads").TransferListItem[] = [],
): { readonly worker: Worker; readonly ended: Promise<number> } {
  const worker = new Worker(module, { workerData, transferList: [...transferList], execArgv: [...fromSource] });
  const ended = new Promise<number>((resolve, reject) => worker.once("error", reject).once("exit", resolve));
  return { worker, ended };
}
