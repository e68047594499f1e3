/** Measurement of the memory that this process holds, without garbage. */
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** The bytes that the process holds after a collection of garbage, for which it need not have been started with `--expose-gc`. */
export async function heldBytes(): Promise<number> {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  if (typeof collect === "function") collect();
  // Finalizers run in later turns.
  await setImmediate();
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  return arrayBuffers + heapUsed;
}

/** The most collections of garbage: buffers are freed some turns of the event loop after they were collected. */
export const mostCollections = 10;
