/**
 * What differs between platforms, for Node.js: files, installed engines, and worker threads.
 */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import type { Port } from "./port.ts";

/** The engines that are used if they are installed, best first. */
export const knownEngines: readonly string[] = ["@nnhal/backend-ort", "@nnhal/backend-tfjs", "@nnhal/backend-gpujs"];

/** The bytes of a file; undefined if the source is not a file. Rejects with the system's error. */
export async function readLocal(source: string | URL): Promise<Uint8Array | undefined> {
  const text = String(source);
  if (typeof source === "string" ? /^(https?|data|blob):/i.test(text) : source.protocol !== "file:") return undefined;
  const path = text.startsWith("file:") ? fileURLToPath(text) : text;
  return new Uint8Array(await readFile(path));
}

/** The module of a file, or of a package: beside this package, else beside the application. undefined if it is not installed. */
export async function loadModule(name: string): Promise<unknown> {
  if (/^(\.{1,2})?[/\\]/.test(name)) return import(pathToFileURL(resolve(name)).href);
  try {
    return await import(name);
  } catch (error) {
    if (!isMissing(error, name)) throw error;
  }
  try {
    return await import(pathToFileURL(createRequire(join(process.cwd(), "package.json")).resolve(name)).href);
  } catch (error) {
    if (!isMissing(error, name)) throw error;
    return undefined;
  }
}

/** Whether a module itself is missing, and not one that it needs. */
function isMissing(error: unknown, name: string): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const isNotFound = code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND";
  return isNotFound && error instanceof Error && error.message.includes(`'${name}'`);
}

/** Starts a worker thread that computes. `threads`: for engines with threads of their own. */
export function startWorker(threads?: number): Port {
  const source = new URL("./worker-node.ts", import.meta.url);
  const file = existsSync(source) ? source : createRequire(import.meta.url).resolve("@nnhal/network/worker");
  const env = { ...process.env, ...(threads !== undefined && { NNHAL_ORT_THREADS: String(threads) }) };
  return portOfWorker(new Worker(file, { env }));
}

/** A worker thread as a port. */
export function portOfWorker(worker: Worker): Port {
  return {
    post: (message, transfer) => worker.postMessage(message, transfer),
    listen(onMessage, onError) {
      worker.on("message", onMessage);
      worker.on("error", onError);
      worker.on("exit", (code) => onError(new Error(`the worker ended with the code ${code}`)));
    },
    // A model that is not in use keeps no process alive.
    hold: () => worker.ref(),
    letGo: () => worker.unref(),
    end: async () => void (await worker.terminate()),
  };
}
