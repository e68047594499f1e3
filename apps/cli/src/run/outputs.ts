/**
 * The files that `nnhal run` writes besides its report: outputs, drawings, traces.
 */
import { mkdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { formatTraceTable, toChromeTrace, toTraceTable } from "@nnhal/utils";
import type { ModelCommandContext } from "../context.ts";
import { usageError } from "../failure.ts";
import { pathFrom, reasonOf, writeChosenFile, writeUserFile } from "../files.ts";
import type { OutputValue } from "../model/execute.ts";

/** Writes the trace, and returns its times as a table. */
export async function writeTrace(file: string, model: string, { cwd, trace }: ModelCommandContext): Promise<string> {
  trace.stop();
  const recorded = trace.read();
  const content = JSON.stringify(toChromeTrace(recorded, { processName: `nnhal run ${basename(model)}` }));
  await writeUserFile(file, content, cwd);
  return formatTraceTable(toTraceTable(recorded));
}

/** Makes the folder of a file. Rejects with a usage error. */
export async function makeFolderOf(file: string, cwd: string): Promise<void> {
  try {
    await mkdir(pathFrom(cwd, dirname(file)), { recursive: true });
  } catch (error) {
    throw usageError(`cannot write ${file}: ${reasonOf(error)}`, error);
  }
}

/** Writes outputs into a folder. `before`: what their names begin with. */
export async function writeOutputs(
  folder: string,
  before: string,
  outputs: readonly OutputValue[],
  cwd: string,
): Promise<string[]> {
  const written: string[] = [];
  for (const [place, { bytes }] of outputs.entries()) {
    const file = join(folder, `${before}output${place}.bin`);
    await makeFolderOf(file, cwd);
    await writeChosenFile(file, bytes, cwd);
    written.push(file);
  }
  return written;
}
