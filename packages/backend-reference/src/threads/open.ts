/** Opens the threads that the backend is asked for. */
import type { KernelEngine, Unavailable } from "@nnhal/backend";
import { openThreads, type WebWorker } from "@nnhal/backend/threads";
import { startThread } from "#start";
import type { Held, Helper } from "../kernel.ts";
import type { createScratch } from "../scratch.ts";
import { helpBy } from "./helped.ts";
import { openTeam } from "./team.ts";

/**
 * Creates an engine with the threads that are wanted. `given`: see `openThreads`. `start`: starts a worker of a page. `newScratch`: given, since bundlers load files that this one and the backend
 * import apart.
 */
export async function openHelped(
  given: number | string,
  start: (() => WebWorker) | undefined,
  create: (helper?: Helper) => KernelEngine<Held>,
  newScratch: typeof createScratch,
): Promise<KernelEngine<Held> | Unavailable> {
  const opened = await openThreads(given, "NNHAL_REFERENCE_THREADS", async (threads) =>
    helpBy(await openTeam({ threads, start: () => startThread(start) }), newScratch(undefined, 1)),
  );
  return "unavailable" in opened ? opened : { ...create(opened.team), choices: opened.choices };
}
