/**
 * Garbage collection in a test, whose process need not have been started with `--expose-gc`.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Collects garbage. Finalizers run later: see `collectUntil`. */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const gc: () => void = runInNewContext("gc");
  gc();
}

/** Collects garbage and lets finalizers run, until a condition holds or for a number of rounds. Default: 40 rounds. */
export async function collectUntil(isSo: () => boolean, rounds = 40): Promise<void> {
  for (let round = 0; round < rounds && !isSo(); round++) {
    collectGarbage();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Collects garbage, and waits until finalizers have run. */
export function collectAll(): Promise<void> {
  return collectUntil(() => false, 3);
}
