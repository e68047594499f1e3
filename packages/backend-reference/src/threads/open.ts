/** Opens the threads that the backend is asked for. */
import type { KernelEngine, Unavailable } from "@nnhal/backend";
import { openThreads, type WebWorker } from "@nnhal/backend/threads";
import type { ExtensionDefinition } from "@nnhal/operations";
import { startThread } from "#start";
import { loadLibrary, tfliteName } from "../helper/library.ts";
import type { Held, Helper } from "../kernel.ts";
import type { createScratch } from "../scratch.ts";
import { helpBy } from "./helped.ts";
import { openTeam } from "./team.ts";

/** The options of the backend that threads depend on. */
interface HelpOptions {
  readonly extensions?: readonly ExtensionDefinition[] | undefined;
  readonly startThread?: (() => WebWorker) | undefined;
}

/**
 * Creates an engine with the threads that are wanted. `given`: see `openThreads`. The functions are given, since bundlers load files apart that this one and the
 * backend import.
 */
export async function openHelped<Options extends HelpOptions>(
  given: number | string,
  options: Options,
  newEngine: (options: Options, helper?: Helper) => KernelEngine<Held>,
  newScratch: typeof createScratch,
): Promise<KernelEngine<Held> | Unavailable> {
  const opened = await openThreads(given, "NNHAL_REFERENCE_THREADS", async (threads) => {
    const { startThread: start, extensions = [] } = options;
    const hasTflite = extensions.some(({ name }) => name === tfliteName);
    const find = await loadLibrary([], hasTflite);
    const team = await openTeam({ threads, start: () => startThread(start) });
    return helpBy({ team, find, kept: newScratch(undefined, 1) });
  });
  return "unavailable" in opened ? opened : { ...newEngine(options, opened.team), choices: opened.choices };
}
