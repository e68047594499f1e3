/**
 * Decodes large pictures beside the calling thread, in Node.js: with `sharp`, if the user has it, else in a thread of its own, which a signal
 * ends.
 */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { DecodingAnswer, DecodingRequest } from "./decoding-messages.ts";
import type { Wanted } from "./formats.ts";
import type { Picture } from "./picture.ts";
import { decodeWithSharp } from "./sharp.ts";

/** Pictures that are decoded at a time; others wait. */
const mostThreads = Math.min(4, availableParallelism());
let threads = 0;
const waiting: (() => void)[] = [];
/** Threads cannot be started here: the file is not there, such as in a bundle of one file, or the runtime lets none start. */
let isImpossible = false;

/**
 * The picture; undefined if it must be decoded by the caller. Rejects with a RangeError if the file cannot be read, or with the reason of
 * the signal.
 */
export async function decodeApart(
  bytes: Uint8Array,
  wanted: Wanted,
  signal: AbortSignal | undefined,
): Promise<Picture | undefined> {
  if (threads >= mostThreads) await turn(signal);
  threads++;
  try {
    const picture = await decodeWithSharp(bytes, wanted.atLeast, signal);
    return picture ?? (isImpossible ? undefined : await inThread({ bytes, wanted }, signal));
  } finally {
    threads--;
    waiting.shift()?.();
  }
}

/** Resolves when a picture before this one is done. */
function turn(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const begin = () => {
      signal?.removeEventListener("abort", stop);
      resolve();
    };
    const stop = () => {
      waiting.splice(waiting.indexOf(begin), 1);
      reject(signal?.reason);
    };
    waiting.push(begin);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

async function inThread(request: DecodingRequest, signal: AbortSignal | undefined): Promise<Picture | undefined> {
  const worker = startDecoder();
  if (worker === undefined) return undefined;
  let stop = () => {};
  try {
    return await new Promise<Picture | undefined>((resolve, reject) => {
      stop = () => reject(signal?.reason);
      signal?.addEventListener("abort", stop, { once: true });
      if (signal?.aborted) stop();
      let isLoaded = false;
      const fail = (error: Error) => {
        if (isLoaded) return reject(new RangeError(`cannot be decoded: ${error.message}`, { cause: error }));
        isImpossible = true;
        resolve(undefined);
      };
      worker.on("message", (answer: DecodingAnswer) => {
        if (answer === "loaded") isLoaded = true;
        else if ("picture" in answer) resolve(answer.picture);
        else reject(new RangeError(answer.problem, { cause: new Error(answer.problem) }));
      });
      worker.on("error", fail);
      worker.on("exit", (code) => fail(new Error(`its thread ended with the code ${code}`)));
      worker.postMessage(request);
    });
  } finally {
    signal?.removeEventListener("abort", stop);
    await worker.terminate();
  }
}

function startDecoder(): Worker | undefined {
  // Bundlers look for these words. The build writes `.js`.
  try {
    return new Worker(new URL("./worker-decoder.ts", import.meta.url));
  } catch {
    // A bundle in CommonJS has no URL of its own, and the permission model may refuse threads.
    isImpossible = true;
    return undefined;
  }
}
