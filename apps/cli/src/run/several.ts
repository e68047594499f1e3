/**
 * `nnhal run` on several inputs, one after the other.
 */

import { basename, join } from "node:path";
import { exitCodes } from "@nnhal/program";
import { nextTurn } from "@nnhal/utils/time";
import { type BatchResult, batchJson, formatBatch, foundText } from "../batch-report.ts";
import { csvHead, csvLines } from "../csv.ts";
import { CommandError, usageError } from "../failure.ts";
import { writeChosenFile } from "../files.ts";
import { fit } from "../fit.ts";
import { type OutputValue, type PreparedRun, prepareRun, runOnce, stateValues } from "../model/execute.ts";
import { type PreparedInput, prepareInputs } from "../model/inputs.ts";
import { median } from "../model/measure.ts";
import { meanOfParts } from "../model/parts.ts";
import { createLateProgressBar } from "../progress.ts";
import { outputJson } from "../run-report.ts";
import { drawFound, type Found } from "../seen/finder.ts";
import { plain } from "../text.ts";
import type { RunCommandOptions } from "./options.ts";
import { makeFolderOf, writeOutputs } from "./outputs.ts";
import { profileBatch } from "./profile.ts";
import { expectPicture, mostValues, pictureOf, readGivenInputs, type Session } from "./session.ts";

/** Runs a model on several files. One that cannot be used is reported in its place, and the exit code is 2. */
export async function runSeveral(
  files: readonly string[],
  select: () => Promise<Session>,
  { runs, profile, draw, trace, outputDir, csv = false, ...options }: RunCommandOptions,
): Promise<void> {
  const count = `there are ${files.length} inputs`;
  if (runs !== undefined) throw usageError(`--runs repeats the run of one input, but ${count}, each with its own time`);
  if (trace !== undefined) throw usageError(`--trace records the run of one input, but ${count}`);
  if (draw !== undefined && /\.png$/i.test(draw))
    throw usageError(`--draw ${draw} is a file for one picture, but ${count}: name a folder`);
  const session = await select();
  const { model, selection, context, stateFile, imported, note } = session;
  const { cwd, now, stdout, stderr, setExitCode } = context;
  const bar = createLateProgressBar(stderr, files.length);
  const start = now();
  const prepared = await prepareRun(model, selection, { onFallback: note, carried: stateFile?.states });
  const prepare = imported + now() - start;
  const device = prepared.session.compilation.deviceNames.join(", ");
  const results: BatchResult[] = [];
  let hasHead = false;
  try {
    for (const [place, input] of files.entries()) {
      bar.moveTo(place, plain(basename(input)));
      const result = await runFile(input, session, prepared, draw !== undefined);
      if (result.problem !== undefined) {
        setExitCode(exitCodes.usage);
        if (csv) note(result.problem);
        results.push({ input, outputs: [], text: "", found: { top: [] }, time: 0, problem: result.problem });
      } else {
        const { outputs, found, time } = result;
        const name = `${place + 1}-${basename(input)}`;
        if (csv) {
          // Written immediately, so that an interrupted batch keeps its results.
          if (!hasHead) stdout.write(csvHead(found));
          hasHead = true;
          stdout.write(csvLines(input, outputs, found));
        }
        if (outputDir !== undefined) await writeOutputs(outputDir, `${name}.`, outputs, cwd);
        if (draw !== undefined) {
          const file = join(draw, `${name}.png`);
          await makeFolderOf(file, cwd);
          await writeChosenFile(file, await drawFound(expectPicture(result.inputs), found), cwd);
        }
        const kept = options.json ? outputs.map((output) => outputJson(output, mostValues(options))) : [];
        const { top, seen } = found;
        results.push({
          input,
          outputs: kept,
          text: foundText(outputs, found),
          found: { top, ...(seen && { seen }) },
          time,
        });
      }
      // Lets the bar be drawn, and signals be seen.
      await nextTurn();
    }
    await stateFile?.write();
  } finally {
    bar.stop();
    await prepared.session.close();
  }
  const used = results.filter(({ problem }) => problem === undefined).map(({ input }) => input);
  const times = results.filter(({ problem }) => problem === undefined).map(({ time }) => time);
  const report = {
    ...{ model: session.path, device, results, prepare, median: times.length === 0 ? 0 : median(times) },
    ...(profile && used.length > 0 && { profile: await profileBatch(used, session) }),
    ...(draw !== undefined && { drawings: draw }),
    ...(stateFile && {
      stateFile: session.options.state,
      states: stateValues(model, stateFile.states).map((state) => outputJson(state, mostValues(options))),
    }),
  };
  if (options.json) stdout.write(`${JSON.stringify(batchJson(report))}\n`);
  else if (!csv) stdout.write(fit(formatBatch(report), stdout.columns));
}

/** The outputs of a run on a file, or why the file cannot be used. */
type FileRun =
  | {
      readonly inputs: readonly PreparedInput[];
      readonly outputs: readonly OutputValue[];
      readonly found: Found;
      readonly time: number;
      problem?: never;
    }
  | { readonly problem: string };

async function runFile(input: string, session: Session, prepared: PreparedRun, isDrawn: boolean): Promise<FileRun> {
  const { options, context, model } = session;
  try {
    const inputs = await prepareInputs(model, readGivenInputs(options, [input]), context);
    if (isDrawn) expectPicture(inputs);
    const start = context.now();
    const first = await runOnce(
      prepared,
      inputs.map(({ bytes }) => bytes),
    );
    const outputs = await meanOfParts(prepared, inputs, first);
    const time = context.now() - start;
    return { inputs, outputs, found: await session.finder.find(outputs, pictureOf(inputs)), time };
  } catch (error) {
    if (!(error instanceof CommandError) || error.exitCode !== exitCodes.usage) throw error;
    return { problem: error.message };
  }
}
