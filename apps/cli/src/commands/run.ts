/**
 * `nnhal run MODEL`: runs a model on pictures, raw tensors or noise, and shows its outputs.
 */
import { mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  elementsOf,
  type Labels,
  type Normalisation,
  packedLabels,
  type ScoredClass,
  scoresOf,
  topClasses,
} from "@nnhal/network/tensors";
import { elementAt } from "@nnhal/operations";
import { formatTraceTable, inSection, toChromeTrace, toTraceTable } from "@nnhal/utils";
import { type Command, Option } from "commander";
import { type BatchResult, batchJson, csvHead, csvLines, formatBatch, foundText } from "../batch-report.ts";
import type { ModelCommandContext } from "../context.ts";
import type { DeviceSelection } from "../devices.ts";
import { explainPlan } from "../explain/explanation.ts";
import { measurePlan } from "../explain/measure-plan.ts";
import { CommandError, exitCodes, usageError } from "../failure.ts";
import { pathFrom, reasonOf, writeUserFile } from "../files.ts";
import { type OutputValue, type PreparedRun, prepareRun, runOnce } from "../model/execute.ts";
import { filesOfRuns, type GivenInputs, type PreparedInput, prepareInputs } from "../model/inputs.ts";
import { readLabels } from "../model/labels.ts";
import { type LoadedModel, loadModel } from "../model/load.ts";
import { measureRuns, median } from "../model/measure.ts";
import { channelDivisors, channelNumbers, collect, deviceOption, wholeNumber } from "../option-values.ts";
import { type Profile, profileOf } from "../profile.ts";
import { createLateProgressBar } from "../progress.ts";
import { formatReport, MOST_VALUES, outputJson, type RunReport, toJson } from "../run-report.ts";
import { oneLine, plain } from "../text.ts";

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
  readonly profile?: boolean;
  readonly trace?: string;
  readonly json?: boolean;
  readonly allValues?: boolean;
  readonly csv?: boolean;
}

const help = `
Inputs:
  The first bytes of a file say what it is; - is the standard input. A model of one input runs once for each file, and
  once for each input in a folder.
  PNG, JPEG and BMP pictures are resized to the input tensor (the whole picture, bilinear). Bytes then hold the pixel
  (signed ones the pixel - 128), floats (pixel - 128) / 128. With --mean or --std the real value is (pixel - mean) / std
  for every type, quantised by the tensor's scale and zero point.
  .npy arrays have the tensor's shape. WAV sounds become one channel from -1 to 1, cut or followed by silence. A text is
  as many numbers as the tensor has elements. A file whose name ends in .bin is the tensor itself: little-endian
  elements, nothing else. State that a model keeps between runs starts at zero in every run.

Examples:
  nnhal run mobilenet.tflite --input cat.jpg --labels imagenet_labels.txt
  nnhal run mobilenet.tflite *.jpg --csv > classes.csv
  nnhal run mobilenet.tflite pictures/
  curl -s https://example.com/cat.jpg | nnhal run mobilenet.tflite -
  nnhal run mobilenet.tflite --input cat.jpg --runs 20 --json
  nnhal run mobilenet.tflite --input cat.jpg --profile
  nnhal run two-inputs.tflite --input left.png --input right.npy --output-dir results
  nnhal run lstm.tflite --random 1 --device reference
  nnhal run two-signatures.tflite --signature encode --random 1
  nnhal run mobilenet.tflite --random 1 --runs 20 --trace trace.json
  nnhal run resnet.tflite --input dog.png --mean 124,117,104 --std 58,57,57`;

/** Gives the command its arguments, options and work. */
export function registerRunCommand(command: Command, context: () => Promise<ModelCommandContext>): void {
  command
    .argument("<model>", "the .tflite file")
    .argument("[inputs...]", "the same as --input: pictures, arrays, sounds, texts, raw tensors, or folders of them")
    .option("--input <file>", "a file for an input of the model, in order; - is the standard input", collect)
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
    .option("--profile", "also run each operation in a step of its own, and print the time of each")
    .option("--trace <file>", "write the durations of all steps to this file, for ui.perfetto.dev")
    .option("--json", `print the report as JSON, with the values of outputs of up to ${MOST_VALUES} elements`)
    .addOption(new Option("--all-values", "with --json: the values of all outputs").implies({ json: true }))
    .addOption(
      new Option("--csv", "print the best classes, or all values, as CSV").conflicts(["json", "allValues", "profile"]),
    )
    .addHelpText("after", help)
    .action(async (model: string, files: readonly string[], { input = [], ...options }: RunCommandOptions) => {
      const all = [...files, ...input];
      if (all.length > 0 && options.random !== undefined)
        throw usageError("--random replaces inputs, but there are some");
      return runModelCommand(model, { ...options, ...(all.length > 0 && { input: all }) }, await context());
    });
}

/** What the runs of a command share. */
interface Session {
  readonly path: string;
  readonly options: RunCommandOptions;
  readonly context: ModelCommandContext;
  readonly model: LoadedModel;
  readonly selection: DeviceSelection;
  /** Labels of the user. */
  readonly labels: Labels | undefined;
  /** Milliseconds of reading the model. */
  readonly imported: number;
  readonly note: (message: string) => void;
}

/** Runs the command. Rejects with a CommandError. */
export async function runModelCommand(
  path: string,
  options: RunCommandOptions,
  context: ModelCommandContext,
): Promise<void> {
  const { cwd, now, stderr, devices, trace } = context;
  if (options.trace !== undefined) trace.start();
  // What is cheap to find wrong comes first: files before engines.
  const labels = options.labels === undefined ? undefined : await readLabels(options.labels, cwd);
  const started = now();
  const importing = { ...signatureOf(options), customOperators: await devices.definitions() };
  const model = await inSection(trace, "LA", "PP", "load model", () => loadModel(path, cwd, importing));
  const imported = now() - started;
  const said = new Set<string>();
  const note = (message: string) => {
    // The same may be true of many inputs.
    if (!said.has(message)) stderr.write(`nnhal run: note: ${oneLine(message)}\n`);
    said.add(message);
  };
  const runs = await filesOfRuns(model, options.input ?? [], cwd);
  const select = async (): Promise<Session> => {
    const selection = await devices.select(options.device);
    return { path, options, context, model, selection, labels, imported, note };
  };
  const [first = []] = runs;
  if (runs.length > 1)
    return runBatch(
      runs.map((files) => elementAt(files, 0)),
      select,
      options,
    );
  const inputs = await prepareInputs(model, givenBy(options, first), context);
  return runSingle(inputs, await select());
}

async function runSingle(inputs: readonly PreparedInput[], session: Session): Promise<void> {
  const { path, options, context, model, selection, imported, note } = session;
  const { cwd, now, stdout, stderr, trace } = context;
  const { runs = 0 } = options;
  const bar = createLateProgressBar(stderr, runs + 2);
  try {
    bar.moveTo(0, "preparing the model");
    const start = now();
    const prepared = await prepareRun(model, selection, { onFallback: note, trace });
    const prepare = imported + now() - start;
    const say = (done: number) => bar.moveTo(done + 1, done > runs ? "done" : `run ${done + 1} of ${runs + 1}`);
    say(0);
    const bytes = inputs.map((input) => input.bytes);
    const { outputs, latency } = await measureRuns(prepared, bytes, { runs, now, onRun: say });
    bar.stop();
    const top = topOf(outputs, session);
    const device = prepared.compilation.deviceNames.join(", ");
    prepared.compilation.close();
    const report: RunReport = {
      model: path,
      device,
      inputs,
      outputs,
      top,
      runs,
      latency: { prepare, ...latency },
      written: [
        ...(options.outputDir === undefined ? [] : await writeOutputs(options.outputDir, "", outputs, cwd)),
        ...(options.trace === undefined ? [] : [options.trace]),
      ],
      ...(options.profile && { profile: await measureProfile(bytes, session) }),
    };
    const times = options.trace === undefined ? "" : `\n${await writeTrace(options.trace, path, context)}`;
    if (options.csv) {
      const input = inputs.map(({ source }) => source).join(" + ");
      stdout.write(csvHead(top.length > 0) + csvLines(options.input?.join(" + ") ?? input, outputs, top));
    } else if (options.json) stdout.write(`${JSON.stringify(toJson(report, mostValues(options)))}\n`);
    else stdout.write(`${formatReport(report)}${times}`);
  } finally {
    bar.stop();
  }
}

/** Runs a model on several files. One that cannot be used is reported in its place, and the exit code is 2. */
async function runBatch(
  files: readonly string[],
  select: () => Promise<Session>,
  { runs, profile, trace, outputDir, csv = false, ...options }: RunCommandOptions,
): Promise<void> {
  const single = Object.entries({ "--runs": runs, "--profile": profile, "--trace": trace }).find(([, value]) => value);
  if (single !== undefined) throw usageError(`${single[0]} measures one input, but there are ${files.length}`);
  const session = await select();
  const { model, selection, context, imported, note } = session;
  const { cwd, now, stdout, stderr, setExitCode } = context;
  const bar = createLateProgressBar(stderr, files.length);
  const start = now();
  const prepared = await prepareRun(model, selection, { onFallback: note });
  const prepare = imported + now() - start;
  const device = prepared.compilation.deviceNames.join(", ");
  const results: BatchResult[] = [];
  let hasHead = false;
  try {
    for (const [place, input] of files.entries()) {
      bar.moveTo(place, plain(basename(input)));
      const result = await runFile(input, session, prepared);
      if (result.problem !== undefined) {
        setExitCode(exitCodes.usage);
        if (csv) note(result.problem);
        results.push({ input, outputs: [], found: "", top: [], time: 0, problem: result.problem });
      } else {
        const { outputs, top, time } = result;
        if (csv) {
          // Written at once: a long batch that is ended has not been in vain.
          if (!hasHead) stdout.write(csvHead(top.length > 0));
          hasHead = true;
          stdout.write(csvLines(input, outputs, top));
        }
        if (outputDir !== undefined) await writeOutputs(outputDir, `${place + 1}-${basename(input)}.`, outputs, cwd);
        const kept = options.json ? outputs.map((output) => outputJson(output, mostValues(options))) : [];
        results.push({ input, outputs: kept, found: foundText(outputs, top), top, time });
      }
      // Lets the bar be drawn, and signals be seen.
      await nextTurn();
    }
  } finally {
    bar.stop();
    prepared.compilation.close();
  }
  const times = results.filter(({ problem }) => problem === undefined).map(({ time }) => time);
  const report = { model: session.path, device, results, prepare, median: times.length === 0 ? 0 : median(times) };
  if (options.json) stdout.write(`${JSON.stringify(batchJson(report))}\n`);
  else if (!csv) stdout.write(formatBatch(report));
}

/** The outputs of a run on a file, or why the file cannot be used. */
type FileRun =
  | {
      readonly outputs: readonly OutputValue[];
      readonly top: readonly ScoredClass[];
      readonly time: number;
      problem?: never;
    }
  | { readonly problem: string };

async function runFile(input: string, session: Session, prepared: PreparedRun): Promise<FileRun> {
  const { options, context, model } = session;
  try {
    const inputs = await prepareInputs(model, givenBy(options, [input]), context);
    const start = context.now();
    const outputs = await runOnce(
      prepared,
      inputs.map(({ bytes }) => bytes),
    );
    return { outputs, top: topOf(outputs, session), time: context.now() - start };
  } catch (error) {
    if (!(error instanceof CommandError) || error.exitCode !== exitCodes.usage) throw error;
    return { problem: error.message };
  }
}

function topOf(outputs: readonly OutputValue[], { options, labels: given, model, note }: Session): ScoredClass[] {
  const scores = scoresOf(outputs);
  const labels = given ?? (scores && packedLabels(model.bytes, scores.info, note));
  if (labels !== undefined) warnOfLabels(labels, scores, note);
  return scores === undefined ? [] : topClasses(scores, options.top, labels?.names);
}

async function measureProfile(
  inputs: readonly Uint8Array[],
  { model, selection, context: { now, devices }, note }: Session,
): Promise<Profile> {
  const { plan, measured, untimed } = await measurePlan(model, selection, { onFallback: note }, now, inputs);
  if (untimed !== undefined) note(`operations are not timed: ${untimed}`);
  const explained = explainPlan(plan, selection.devices, measured, { extensions: await devices.definitions() });
  return profileOf(measured.total, explained.operations);
}

function mostValues({ allValues }: Pick<RunCommandOptions, "allValues">): number {
  return allValues ? Number.POSITIVE_INFINITY : MOST_VALUES;
}

function givenBy(options: RunCommandOptions, files: readonly string[]): GivenInputs {
  const { random } = options;
  return { files, ...(random !== undefined && { seed: random }), ...normalisationOf(options) };
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

/** Writes outputs into a folder. `before`: what their names begin with. */
async function writeOutputs(
  folder: string,
  before: string,
  outputs: readonly OutputValue[],
  cwd: string,
): Promise<string[]> {
  const written: string[] = [];
  for (const [place, { bytes }] of outputs.entries()) {
    const file = join(folder, `${before}output${place}.bin`);
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
