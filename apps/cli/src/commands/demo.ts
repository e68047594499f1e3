/**
 * `nnhal demo`: shows a picture of a digit to the network that ships with the command line. What `npm start` runs.
 */

import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { decodePicture, parseLabels, type ScoredClass, scoresOf, topClasses } from "@nnhal/network/tensors";
import { elementAt } from "@nnhal/operations";
import type { Command } from "commander";
import type { DemoContext } from "../context.ts";
import { startDemoDaemon } from "../demo-daemon.ts";
import type { DeviceSelection } from "../devices.ts";
import { failure } from "../failure.ts";
import { readUserFile, reasonOf } from "../files.ts";
import { fit } from "../fit.ts";
import { prepareRun } from "../model/execute.ts";
import { prepareInputs } from "../model/inputs.ts";
import { loadModel } from "../model/load.ts";
import { measureRuns, median } from "../model/measure.ts";
import { allDevices, deviceOption } from "../option-values.ts";
import { preview } from "../picture/preview.ts";
import { createLateProgressBar } from "../progress.ts";
import { formatTop } from "../run-report.ts";
import { columns, milliseconds, shellWord } from "../text.ts";

/** The command's options, as commander parses them. */
export interface DemoCommandOptions {
  readonly device: string;
  /** True if the device runs in a process of its own. Default: if no device is named, and a daemon can be started. */
  readonly daemon?: boolean | undefined;
}

const modelFile = "digits-uint8.tflite";
const previewColumns = 32;
const shownClasses = 3;

const help = `
Examples:
  nnhal demo
  nnhal demo --device reference`;

/** Gives the command its arguments, options and work. */
export function registerDemoCommand(command: Command, context: () => Promise<DemoContext>): void {
  command
    .addOption(deviceOption())
    .option("--no-daemon", "use a device of this process, not one of a daemon that is started and ended with the demo")
    .addHelpText("after", help)
    .action(async (options: DemoCommandOptions) => runDemoCommand(options, await context()));
}

/** Result of the network for one picture. */
interface Reading {
  readonly file: string;
  readonly best: readonly ScoredClass[];
  /** Milliseconds. */
  readonly time: number;
}

/** Runs the command. Rejects with a CommandError. */
export async function runDemoCommand(options: DemoCommandOptions, context: DemoContext): Promise<void> {
  const { startDriver } = context;
  const isWanted = options.daemon !== false && options.device === allDevices;
  const daemon = isWanted && startDriver !== undefined ? await startDemoDaemon(startDriver) : undefined;
  if (daemon === undefined || "unavailable" in daemon) {
    const why = daemon && `in this process: ${daemon.unavailable}`;
    return readPictures(await context.devices.select(options.device), why, context);
  }
  try {
    await readPictures({ devices: [daemon.device] }, `in a daemon's process, over ${daemon.memory}`, context);
  } finally {
    await daemon.close();
  }
}

/** Lets the network read the pictures. `place`: where the device is, if that is to be said. */
async function readPictures(
  selection: DeviceSelection,
  place: string | undefined,
  context: DemoContext,
): Promise<void> {
  const { demoFolder: cwd, now, stderr, stdout } = context;
  const pictures = await findPictures(cwd);
  const labels = parseLabels(new TextDecoder().decode(await readUserFile("labels.txt", { what: "label file", cwd })));
  const started = now();
  const model = await loadModel(modelFile, cwd);
  const prepared = await prepareRun(model, selection);
  const prepareTime = now() - started;
  const bar = createLateProgressBar(stderr, pictures.length);
  const readings: Reading[] = [];
  try {
    for (const [place, file] of pictures.entries()) {
      bar.moveTo(place, file);
      const inputs = await prepareInputs(model, { files: [file] }, { cwd });
      const { outputs, latency } = await measureRuns(
        prepared,
        inputs.map(({ bytes }) => bytes),
        { runs: 0, now },
      );
      const scores = scoresOf(outputs);
      readings.push({
        file,
        best: scores === undefined ? [] : topClasses(scores, shownClasses, labels),
        time: latency.first,
      });
    }
  } finally {
    bar.stop();
  }
  const engine = prepared.session.compilation.deviceNames.join(", ");
  await prepared.session.close();
  const first = await readUserFile(elementAt(pictures, 0), { what: "picture", cwd });
  const shown = preview(await decodePicture(first), { columns: previewColumns, hasColours: context.hasColours });
  const times = `prepared in ${milliseconds(prepareTime)}, median ${milliseconds(median(readings.map(({ time }) => time)))} a picture`;
  const lines = [
    `A small network of this project, ${modelFile}, reads handwritten digits.`,
    "",
    ...putBeside(shown, [elementAt(pictures, 0), "", ...formatTop(elementAt(readings, 0).best)]),
    "",
    ...formatReadings(readings),
    "",
    `device   ${engine}${place === undefined ? "" : `, ${place}`}`,
    `latency  ${times}`,
    "",
    "What next?",
    ...suggestions(context, elementAt(pictures, pictures.length - 1)).map((line) => `  ${line}`),
  ];
  stdout.write(fit(`${lines.join("\n")}\n`, stdout.columns));
}

async function findPictures(folder: string): Promise<string[]> {
  let files: string[];
  try {
    files = await readdir(folder);
  } catch (error) {
    throw failure(`cannot read the demo's folder ${folder}: ${reasonOf(error)}`, error);
  }
  const pictures = files.filter((file) => file.endsWith(".png")).sort();
  if (pictures.length === 0) throw failure(`there are no pictures in the demo's folder ${folder}`);
  return pictures;
}

/** A block of lines with another to its right, centred. */
function putBeside(left: readonly string[], right: readonly string[]): string[] {
  const above = Math.max(0, Math.floor((left.length - right.length) / 2));
  return left.map((line, row) => `  ${line}   ${right[row - above] ?? ""}`.trimEnd());
}

function formatReadings(readings: readonly Reading[]): string[] {
  return columns(
    readings.map(({ file, best }) => {
      const { index, label, score } = elementAt(best, 0);
      return [`  ${file}`, `is a ${label ?? index}`, `${(100 * score).toFixed(1).padStart(5)} %`];
    }),
  );
}

function suggestions({ cwd, demoFolder, commandLine }: DemoContext, picture: string): string[] {
  const at = (file: string) => {
    const path = join(demoFolder, file);
    const fromHere = relative(cwd, path);
    return shellWord(fromHere.length < path.length ? fromHere : path);
  };
  return [
    `${commandLine} run ${at(modelFile)} --input ${at(picture)} --labels ${at("labels.txt")}`,
    `${commandLine} run ${at("digits-float.tflite")} --random 1 --runs 100`,
    `${commandLine} devices`,
  ];
}
