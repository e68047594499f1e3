/**
 * `nnhal run MODEL`: runs a model on pictures, raw tensors or noise, and shows its outputs.
 */
import { mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import {
  elementsOf,
  type Labels,
  type Normalisation,
  packedLabels,
  scoresOf,
  topClasses,
} from "@nnhal/network/tensors";
import { formatTraceTable, inSection, toChromeTrace, toTraceTable } from "@nnhal/utils";
import { type Command, Option } from "commander";
import type { ModelCommandContext } from "../context.ts";
import { usageError } from "../failure.ts";
import { pathFrom, reasonOf, writeUserFile } from "../files.ts";
import { type OutputValue, prepareRun } from "../model/execute.ts";
import { prepareInputs } from "../model/inputs.ts";
import { readLabels } from "../model/labels.ts";
import { loadModel } from "../model/load.ts";
import { measureRuns } from "../model/measure.ts";
import { channelDivisors, channelNumbers, collect, deviceOption, wholeNumber } from "../option-values.ts";
import { createLateProgressBar } from "../progress.ts";
import { formatReport, type RunReport, toJson } from "../run-report.ts";
import { oneLine } from "../text.ts";

/** The command's options, as commander parses them. */
export interface RunCommandOptions {
  readonly input?: readonly string[];
  readonly random?: number;
  readonly mean?: readonly number[];
  readonly std?: readonly number[];
  readonly labels?: string;
  readonly signature?: string;
  readonly top: number;
  readonly device: string;
  readonly outputDir?: string;
  /** Runs after the first. */
  readonly runs?: number;
  readonly trace?: string;
  readonly json?: boolean;
}

const help = `
Inputs:
  PNG, JPEG and BMP pictures are resized to the input tensor (the whole picture, bilinear). Bytes then hold the pixel
  (signed ones the pixel - 128), floats (pixel - 128) / 128. With --mean or --std the real value is (pixel - mean) / std
  for every type, quantised by the tensor's scale and zero point. A file whose name ends in .bin is the tensor itself:
  little-endian elements, nothing else. State that a model keeps between runs starts at zero in every run.

Examples:
  nnhal run mobilenet.tflite --input cat.jpg --labels imagenet_labels.txt
  nnhal run mobilenet.tflite --input cat.jpg --runs 20 --json
  nnhal run two-inputs.tflite --input left.png --input right.png --output-dir results
  nnhal run lstm.tflite --random 1 --device reference
  nnhal run two-signatures.tflite --signature encode --random 1
  nnhal run mobilenet.tflite --random 1 --runs 20 --trace trace.json
  nnhal run resnet.tflite --input dog.png --mean 124,117,104 --std 58,57,57`;

/** Gives the command its arguments, options and work. */
export function registerRunCommand(command: Command, context: () => Promise<ModelCommandContext>): void {
  command
    .argument("<model>", "the .tflite file")
    .option("--input <file>", "picture or raw .bin tensor; once for each input of the model, in order", collect)
    .addOption(
      new Option("--random <seed>", "fill the inputs with noise from a seed instead")
        .argParser(wholeNumber(0, 2 ** 31 - 1))
        .conflicts(["input", "mean", "std"]),
    )
    .option(
      "--mean <numbers>",
      "subtract this from pixels: one number, or red,green,blue (default: 128)",
      channelNumbers,
    )
    .option("--std <numbers>", "then divide by this (default: 128)", channelDivisors)
    .option("--labels <file>", "names of the classes, one a line (default: those packed with the model)")
    .option("--signature <key>", "which signature of the file to run (default: its first subgraph)")
    .option("--top <k>", "how many classes to show", wholeNumber(1, 1_000_000), 5)
    .addOption(deviceOption())
    .option("--output-dir <dir>", "write each output tensor raw to output<k>.bin in this folder")
    .option(
      "--runs <n>",
      "number of further runs after the first; prints the fastest and the median",
      wholeNumber(1, 1_000_000),
    )
    .option("--trace <file>", "write the durations of all steps to this file, for ui.perfetto.dev")
    .option("--json", "print the report as JSON")
    .addHelpText("after", help)
    .action(async (model: string, options: RunCommandOptions) => runModelCommand(model, options, await context()));
}

/** Runs the command. Rejects with a CommandError. */
export async function runModelCommand(
  path: string,
  options: RunCommandOptions,
  context: ModelCommandContext,
): Promise<void> {
  const { cwd, now, stdout, stderr, devices, trace } = context;
  const { runs = 0 } = options;
  if (options.trace !== undefined) trace.start();
  // What is cheap to find wrong comes first: files before engines.
  const given = options.labels === undefined ? undefined : await readLabels(options.labels, cwd);
  const started = now();
  const importing = { ...signatureOf(options), customOperators: await devices.definitions() };
  const model = await inSection(trace, "LA", "PP", "load model", () => loadModel(path, cwd, importing));
  const imported = now() - started;
  const inputs = await prepareInputs(
    model,
    {
      files: options.input ?? [],
      ...(options.random !== undefined && { seed: options.random }),
      ...normalisationOf(options),
    },
    cwd,
  );
  const selection = await devices.select(options.device);
  const bar = createLateProgressBar(stderr, runs + 2);
  try {
    bar.moveTo(0, "preparing the model");
    const start = now();
    const note = (message: string) => stderr.write(`nnhal run: note: ${oneLine(message)}\n`);
    const prepared = await prepareRun(model, selection, { onFallback: note, trace });
    const prepare = imported + now() - start;
    const say = (done: number) => bar.moveTo(done + 1, done > runs ? "done" : `run ${done + 1} of ${runs + 1}`);
    say(0);
    const bytes = inputs.map((input) => input.bytes);
    const { outputs, latency } = await measureRuns(prepared, bytes, { runs, now, onRun: say });
    bar.stop();
    const scores = scoresOf(outputs);
    const labels = given ?? (scores && packedLabels(model.bytes, scores.info, note));
    if (labels !== undefined) warnOfLabels(labels, scores, note);
    const report: RunReport = {
      model: path,
      device: prepared.compilation.deviceNames.join(", "),
      inputs,
      outputs,
      top: scores === undefined ? [] : topClasses(scores, options.top, labels?.names),
      runs,
      latency: { prepare, ...latency },
      written: [
        ...(options.outputDir === undefined ? [] : await writeOutputs(options.outputDir, outputs, cwd)),
        ...(options.trace === undefined ? [] : [options.trace]),
      ],
    };
    prepared.compilation.close();
    const times = options.trace === undefined ? "" : `\n${await writeTrace(options.trace, path, context)}`;
    stdout.write(options.json ? `${JSON.stringify(toJson(report))}\n` : `${formatReport(report)}${times}`);
  } finally {
    bar.stop();
  }
}

function signatureOf({ signature }: RunCommandOptions): { signature?: string } {
  return signature === undefined ? {} : { signature };
}

function normalisationOf({ mean, std }: RunCommandOptions): { normalisation?: Normalisation } {
  return mean === undefined && std === undefined ? {} : { normalisation: { mean: mean ?? [128], std: std ?? [128] } };
}

/** A list that is one off names every class wrongly, so any other length deserves a word. */
function warnOfLabels(
  { names, source }: Labels,
  scores: OutputValue | undefined,
  note: (message: string) => void,
): void {
  const classes = scores === undefined ? 0 : elementsOf(scores.info.shape);
  if (classes === names.length) return;
  const found = scores === undefined ? "no output holds scores of classes" : `the output has ${classes} classes`;
  note(`${source} has ${names.length} labels, but ${found}`);
}

/** Writes the trace, and returns its times as a table. */
async function writeTrace(file: string, model: string, { cwd, trace }: ModelCommandContext): Promise<string> {
  trace.stop();
  const recorded = trace.read();
  const content = JSON.stringify(toChromeTrace(recorded, { processName: `nnhal run ${basename(model)}` }));
  await writeUserFile(file, content, cwd);
  return formatTraceTable(toTraceTable(recorded));
}

async function writeOutputs(folder: string, outputs: readonly OutputValue[], cwd: string): Promise<string[]> {
  const written: string[] = [];
  for (const [place, { bytes }] of outputs.entries()) {
    const file = join(folder, `output${place}.bin`);
    try {
      await mkdir(pathFrom(cwd, folder), { recursive: true });
    } catch (error) {
      throw usageError(`cannot write ${file}: ${reasonOf(error)}`, error);
    }
    await writeUserFile(file, bytes, cwd);
    written.push(file);
  }
  return written;
}
