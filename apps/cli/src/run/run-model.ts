/**
 * The work of `nnhal run`: what can be found wrong before engines are opened, then one input, or several one after the other.
 */
import { elementAt } from "@nnhal/operations";
import { inSection } from "@nnhal/utils";
import type { ModelCommandContext } from "../context.ts";
import { usageError } from "../failure.ts";
import { filesOfRuns, prepareInputs } from "../model/inputs.ts";
import { readLabels } from "../model/labels.ts";
import { loadModel } from "../model/load.ts";
import { openStateFile } from "../model/state-file.ts";
import { entryOf } from "../option-values.ts";
import { checkDrawable, createFinder } from "../seen/finder.ts";
import { oneLine } from "../text.ts";
import type { RunCommandOptions } from "./options.ts";
import { expectPicture, readGivenInputs, type Session } from "./session.ts";
import { runSeveral } from "./several.ts";
import { runSingle } from "./single.ts";

/** Runs the command. Rejects with a CommandError. */
export async function runModelCommand(
  path: string,
  options: RunCommandOptions,
  context: ModelCommandContext,
): Promise<void> {
  const { cwd, now, stderr, devices, trace } = context;
  if (options.trace !== undefined) trace.start();
  if (options.draw !== undefined) checkDrawable(options.task);
  // Options that are cheap to check come first: files before engines.
  const labels = options.labels === undefined ? undefined : await readLabels(options.labels, cwd);
  const started = now();
  const importing = {
    ...entryOf(options),
    hybrid: options.hybrid,
    customOperators: await devices.definitions(),
    halVersion: await devices.halVersion(options.device),
  };
  const model = await inSection(trace, "LA", "PP", "load model", () => loadModel(path, cwd, importing));
  const imported = now() - started;
  const said = new Set<string>();
  const note = (message: string) => {
    // The same may be true of many inputs.
    if (!said.has(message)) stderr.write(`nnhal run: note: ${oneLine(message)}\n`);
    said.add(message);
  };
  if (model.part !== undefined && options.part === undefined) note(`this is ${model.part}, the only model of the file`);
  const runs = await filesOfRuns(model, options.input ?? [], cwd);
  const opening = { cwd, importing, isReset: options.resetState ?? false };
  const stateFile = options.state === undefined ? undefined : await openStateFile(options.state, model, opening);
  const { task, threshold, top } = options;
  const finder = createFinder(model, { task, threshold, top, labels, isDrawn: options.draw !== undefined, note });
  const select = async (): Promise<Session> => {
    const selection = await devices.select(options.device);
    return { path, options, context, model, selection, finder, stateFile, imported, note };
  };
  const [first = []] = runs;
  if (runs.length > 1)
    return runSeveral(
      runs.map((files) => elementAt(files, 0)),
      select,
      options,
    );
  if (options.draw !== undefined) checkDrawingName(options.draw);
  const inputs = await prepareInputs(model, readGivenInputs(options, first), context);
  if (options.draw !== undefined) expectPicture(inputs);
  return runSingle(inputs, await select());
}

/** Throws a usage error for a name that is not that of a PNG file. */
function checkDrawingName(file: string): void {
  if (!/\.png$/i.test(file)) throw usageError(`the name ${file} does not end in .png, the only format of drawings`);
}
