/**
 * A task of a batch, opened: the model on its devices, and what is kept of each input.
 */

import { BatchError, type Computer, type OpenTask } from "@nnhal/batch";
import { elementAt } from "@nnhal/operations";
import { exitCodes } from "@nnhal/program";
import { noTracer } from "@nnhal/utils";
import type { Engine } from "../backend-module.ts";
import { foundText } from "../batch-report.ts";
import { findDevices } from "../command-context.ts";
import type { ThreadSettings } from "../context.ts";
import { CommandError, usageError } from "../failure.ts";
import { prepareRun, runOnce } from "../model/execute.ts";
import { convertInput } from "../model/input-file.ts";
import { normalisationOf } from "../model/inputs.ts";
import { modelOfBytes } from "../model/load.ts";
import { meanOfParts } from "../model/parts.ts";
import { entryOf } from "../option-values.ts";
import { MOST_VALUES, outputJson } from "../run-report.ts";
import { createFinder, drawFound } from "../seen/finder.ts";
import { type BatchOutcome, taskOptionsOf, toJson } from "./options.ts";

type Opening = Parameters<OpenTask>[0];

/** Opens a task. Rejects with a CommandError. */
export async function openComputer(
  { model: bytes, options: json }: Opening,
  note: (message: string) => void,
  settings: ThreadSettings,
  engines: readonly Engine[],
): Promise<Computer> {
  const { device, hybrid, top, labels: names, allValues, raw, draw, task, threshold, ...rest } = taskOptionsOf(json);
  const installs = (module: string) => `npm install ${module}`;
  const devices = await findDevices(
    settings,
    {
      engines: async () => engines,
      installs,
      cwd: settings.cwd,
      stateDirectory: async () => settings.state,
      note,
    },
    noTracer,
  );
  const importing = {
    hybrid,
    customOperators: await devices.definitions(),
    halVersion: await devices.halVersion(device),
    ...entryOf(rest),
  };
  const model = modelOfBytes("of the batch", bytes, importing);
  const [place] = model.givenInputs;
  if (place === undefined || model.givenInputs.length !== 1)
    throw usageError(`a batch runs a model of one input for each file; this one has ${model.givenInputs.length}`);
  const info = elementAt(model.inputs, place);
  const selection = await devices.select(device);
  const prepared = await prepareRun(model, selection, { onFallback: note });
  const deviceNames = prepared.session.compilation.deviceNames.join(", ");
  const { normalisation } = normalisationOf(rest);
  const labels = names && { names, source: "the list of labels" };
  const finder = createFinder(model, { task, threshold, top, labels, isDrawn: draw ?? false, note });
  const most = allValues ? Number.POSITIVE_INFINITY : MOST_VALUES;
  return {
    async compute(given) {
      try {
        const input = await convertInput(given.name, given.bytes, info, { normalisation });
        if (draw && input.picture === undefined)
          throw usageError(`the input ${given.name} is not a picture to draw on`);
        const start = performance.now();
        const outputs = await meanOfParts(prepared, [input], await runOnce(prepared, [input.bytes]));
        const ms = performance.now() - start;
        const found = await finder.find(outputs, input.picture);
        const drawing = draw && input.picture && (await drawFound(input.picture, found));
        const outcome: BatchOutcome = {
          found: foundText(outputs, found),
          device: deviceNames,
          outputs: outputs.map((output) => outputJson(output, most)),
          top: found.top,
          ms,
          ...(found.seen && { seen: found.seen }),
        };
        const files = [
          ...(raw ? outputs.map(({ bytes }, index) => ({ ending: `.output${index}.bin`, bytes })) : []),
          ...(drawing ? [{ ending: ".png", bytes: drawing }] : []),
        ];
        return { result: toJson(outcome), files };
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        // One input is at fault, or the model cannot run at all.
        if (error.exitCode === exitCodes.usage) return { problem: error.message };
        throw new BatchError(error.message);
      }
    },
    async close() {
      await prepared.session.close();
    },
  };
}
