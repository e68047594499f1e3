/**
 * Starts a TypeScript module in a worker thread, from its source.
 */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

const tsx = dirname(createRequire(import.meta.url).resolve("tsx/package.json"));
const register = pathToFileURL(join(tsx, "dist/esm/api/index.mjs")).href;

/** A worker, and a promise of its end: rejected where the module throws. */
export function startWorker(
  module: URL,
  workerData: unknown,
  transferList: readonly import("node:worker_threads").TransferListItem[] = [],
): { readonly worker: Worker; readonly ended: Promise<number> } {
  const code = `import(${JSON.stringify(register)}).then(({ register }) => {
    register();
    return import(${JSON.stringify(module.href)});
  })`;
  const worker = new Worker(code, {
    eval: true,
    workerData,
    transferList: [...transferList],
    execArgv: ["--conditions=@nnhal/source"],
  });
  const ended = new Promise<number>((resolve, reject) => worker.once("error", reject).once("exit", resolve));
  return { worker, ended };
}
