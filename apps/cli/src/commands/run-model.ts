/**
 * The work of `nnhal run`: one input, or several one after the other.
 */
import { mkdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Labels, Picture, ScoredClass } from "@nnhal/network/tensors";
import { elementAt } from "@nnhal/operations";
import { formatTraceTable, inSection, toChromeTrace, toTraceTable } from "@nnhal/utils";
import { type BatchResult, batchJson, csvHead, csvLines, formatBatch, foundText } from "../batch-report.ts";
import type { ModelCommandContext } from "../context.ts";
import type { DeviceSelection } from "../devices.ts";
import { checkDrawingName, type Drawer, openDrawer, type Seen } from "../draw.ts";
import { explainPlan } from "../explain/explanation.ts";
import { type MeasuredPlan, measureBatch, measurePlan } from "../explain/measure-plan.ts";
import { CommandError, exitCodes, usageError } from "../failure.ts";
import { pathFrom, reasonOf, writeChosenFile, writeUserFile } from "../files.ts";
import { bestClasses } from "../model/classes.ts";
import { type OutputValue, type PreparedRun, prepareRun, runOnce } from "../model/execute.ts";
import { filesOfRuns, type GivenInputs, normalisationOf, type PreparedInput, prepareInputs } from "../model/inputs.ts";
import { readLabels } from "../model/labels.ts";
import { type LoadedModel, loadModel } from "../model/load.ts";
import { measureRuns, median } from "../model/measure.ts";
import { meanOfParts } from "../model/parts.ts";
import { createRunStates, openStateFile, type RunStates, type StateFile } from "../model/state-file.ts";
import { type EntryOptions, entryOf, type Hybrid } from "../option-values.ts";
import { type Profile, profileOf } from "../profile.ts";
import { createLateProgressBar } from "../progress.ts";
import { formatReport, MOST_VALUES, outputJson, type RunReport, toJson } from "../run-report.ts";
import { oneLine, plain } from "../text.ts";

/** The command's options, as commander parses them. */
export interface RunCommandOptions extends EntryOptions {
  readonly input?: readonly string[];
  readonly random?: number;
  readonly text?: string;
  readonly mean?: readonly number[];
  readonly std?: readonly number[];
  readonly rate?: number;
  readonly labels?: string;
  readonly top: number;
  readonly device: string;
  readonly hybrid: Hybrid;
  readonly state?: string;
  readonly resetState?: boolean;
  readonly outputDir?: string;
  /** Runs after the first. */
  readonly runs?: number;
  readonly profile?: boolean;
  readonly draw?: string;
  readonly task?: "detect" | "segment" | "landmarks";
  readonly trace?: string;
  readonly json?: boolean;
  readonly allValues?: boolean;
  readonly csv?: boolean;
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
  readonly states: RunStates;
  /** The file that keeps the states for the next command. */
  readonly stateFile: StateFile | undefined;
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
  const importing = { ...entryOf(options), hybrid: options.hybrid, customOperators: await devices.definitions() };
  const model = await inSection(trace, "LA", "PP", "load model", () => loadModel(path, cwd, importing));
  const imported = now() - started;
  const said = new Set<string>();
  const note = (message: string) => {
    // The same may be true of many inputs.
    if (!said.has(message)) stderr.write(`nnhal run: note: ${oneLine(message)}\n`);
    said.add(message);
  };
  const runs = await filesOfRuns(model, options.input ?? [], cwd);
  const opening = { cwd, importing, isReset: options.resetState ?? false };
  const stateFile = options.state === undefined ? undefined : await openStateFile(options.state, model, opening);
  const states = createRunStates(model, stateFile?.states);
  const select = async (): Promise<Session> => {
    const selection = await devices.select(options.device);
    return { path, options, context, model, selection, labels, states, stateFile, imported, note };
  };
  const [first = []] = runs;
  if (runs.length > 1)
    return runBatch(
      runs.map((files) => elementAt(files, 0)),
      select,
      options,
    );
  if (options.draw !== undefined) checkDrawingName(options.draw);
  const inputs = await prepareInputs(model, givenBy(options, first), context);
  return runSingle(inputs, await select());
}

async function runSingle(inputs: readonly PreparedInput[], session: Session): Promise<void> {
  const { path, options, context, model, selection, states, stateFile, imported, note } = session;
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
    const { outputs: first, latency } = await measureRuns(prepared, bytes, { runs, states, now, onRun: say });
    const outputs = await meanOfParts(prepared, inputs, first, () => states.begin());
    bar.stop();
    const top = topOf(outputs, session);
    const device = prepared.compilation.deviceNames.join(", ");
    prepared.compilation.close();
    const seen = options.draw === undefined ? undefined : await drawOnce(options.draw, inputs, session);
    await stateFile?.write();
    const report: RunReport = {
      model: path,
      device,
      inputs,
      outputs,
      states: states.values(),
      top,
      runs,
      latency: { prepare, ...latency },
      written: [
        ...(options.outputDir === undefined ? [] : await writeOutputs(options.outputDir, "", outputs, cwd)),
        ...[options.state, options.draw, options.trace].filter((file) => file !== undefined),
      ],
      ...(seen && { seen }),
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
  { runs, profile, draw, trace, outputDir, csv = false, ...options }: RunCommandOptions,
): Promise<void> {
  const count = `there are ${files.length} inputs`;
  if (runs !== undefined) throw usageError(`--runs repeats the run of one input, but ${count}, each with its own time`);
  if (trace !== undefined) throw usageError(`--trace records the run of one input, but ${count}`);
  if (draw !== undefined && /\.png$/i.test(draw))
    throw usageError(`--draw ${draw} is a file for one picture, but ${count}: name a folder`);
  const session = await select();
  const { model, selection, context, states, stateFile, imported, note } = session;
  const { cwd, now, stdout, stderr, setExitCode } = context;
  const bar = createLateProgressBar(stderr, files.length);
  const start = now();
  const prepared = await prepareRun(model, selection, { onFallback: note });
  const prepare = imported + now() - start;
  const device = prepared.compilation.deviceNames.join(", ");
  const results: BatchResult[] = [];
  let hasHead = false;
  let drawer: Drawer | undefined;
  try {
    if (draw !== undefined) drawer = await drawerFor(session);
    for (const [place, input] of files.entries()) {
      bar.moveTo(place, plain(basename(input)));
      const result = await runFile(input, session, prepared, draw !== undefined);
      if (result.problem !== undefined) {
        setExitCode(exitCodes.usage);
        if (csv) note(result.problem);
        results.push({ input, outputs: [], found: "", top: [], time: 0, problem: result.problem });
      } else {
        const { outputs, top, time } = result;
        const name = `${place + 1}-${basename(input)}`;
        if (csv) {
          // Written at once: a long batch that is ended has not been in vain.
          if (!hasHead) stdout.write(csvHead(top.length > 0));
          hasHead = true;
          stdout.write(csvLines(input, outputs, top));
        }
        if (outputDir !== undefined) await writeOutputs(outputDir, `${name}.`, outputs, cwd);
        let seen: Seen | undefined;
        if (drawer !== undefined && draw !== undefined) {
          const file = join(draw, `${name}.png`);
          await makeFolderOf(file, cwd);
          seen = await drawInput(file, result.inputs, drawer, cwd, writeChosenFile);
        }
        const kept = options.json ? outputs.map((output) => outputJson(output, mostValues(options))) : [];
        results.push({ input, outputs: kept, found: foundText(outputs, top), top, time, ...(seen && { seen }) });
      }
      // Lets the bar be drawn, and signals be seen.
      await nextTurn();
    }
    await stateFile?.write();
  } finally {
    bar.stop();
    prepared.compilation.close();
    await drawer?.close();
  }
  const used = results.filter(({ problem }) => problem === undefined).map(({ input }) => input);
  const times = results.filter(({ problem }) => problem === undefined).map(({ time }) => time);
  const report = {
    ...{ model: session.path, device, results, prepare, median: times.length === 0 ? 0 : median(times) },
    ...(profile && used.length > 0 && { profile: await profileBatch(used, session) }),
    ...(draw !== undefined && { drawings: draw }),
    ...(stateFile && {
      stateFile: session.options.state,
      states: states.values().map((state) => outputJson(state, mostValues(options))),
    }),
  };
  if (options.json) stdout.write(`${JSON.stringify(batchJson(report))}\n`);
  else if (!csv) stdout.write(formatBatch(report));
}

/** The outputs of a run on a file, or why the file cannot be used. */
type FileRun =
  | {
      readonly inputs: readonly PreparedInput[];
      readonly outputs: readonly OutputValue[];
      readonly top: readonly ScoredClass[];
      readonly time: number;
      problem?: never;
    }
  | { readonly problem: string };

async function runFile(input: string, session: Session, prepared: PreparedRun, isDrawn: boolean): Promise<FileRun> {
  const { options, context, model, states } = session;
  try {
    const inputs = await prepareInputs(model, givenBy(options, [input]), context);
    if (isDrawn) expectPicture(inputs);
    const start = context.now();
    const first = await runOnce(
      prepared,
      inputs.map(({ bytes }) => bytes),
      states.begin(),
    );
    const outputs = await meanOfParts(prepared, inputs, first, () => states.begin());
    return { inputs, outputs, top: topOf(outputs, session), time: context.now() - start };
  } catch (error) {
    if (!(error instanceof CommandError) || error.exitCode !== exitCodes.usage) throw error;
    return { problem: error.message };
  }
}

function topOf(outputs: readonly OutputValue[], { options, labels, model, note }: Session): ScoredClass[] {
  return bestClasses(outputs, { top: options.top, labels, model, note });
}

async function measureProfile(inputs: readonly Uint8Array[], session: Session): Promise<Profile> {
  const { model, selection, context, note } = session;
  return profileFrom(await measurePlan(model, selection, { onFallback: note }, context.now, inputs), session);
}

/** The times of all files together. They are read again: the inputs of a long batch would fill the memory. */
async function profileBatch(files: readonly string[], session: Session): Promise<Profile> {
  const { model, selection, context, options, note } = session;
  async function* batch() {
    for (const file of files)
      yield (await prepareInputs(model, givenBy(options, [file]), context)).map(({ bytes }) => bytes);
  }
  return profileFrom(await measureBatch(model, selection, { onFallback: note }, context.now, batch), session);
}

async function profileFrom(
  { plan, measured, untimed }: MeasuredPlan,
  { selection, context: { devices }, note }: Session,
): Promise<Profile> {
  if (untimed !== undefined) note(`operations are not timed: ${untimed}`);
  const explained = await explainPlan(plan, selection.devices, measured, { extensions: await devices.definitions() });
  return profileOf(measured.total, explained.operations);
}

async function drawOnce(file: string, inputs: readonly PreparedInput[], session: Session): Promise<Seen> {
  expectPicture(inputs);
  const drawer = await drawerFor(session);
  try {
    return await drawInput(file, inputs, drawer, session.context.cwd);
  } finally {
    await drawer.close();
  }
}

async function drawerFor({ options, context, model, selection, labels }: Session): Promise<Drawer> {
  return openDrawer(model, selection, {
    ...normalisationOf(options),
    ...entryOf(options),
    task: options.task,
    labels: labels?.names,
    extensions: await context.devices.definitions(),
  });
}

/** Draws what the network sees in its only input. Rejects with a usage error if that is not a picture. */
async function drawInput(
  file: string,
  inputs: readonly PreparedInput[],
  drawer: Drawer,
  cwd: string,
  write = writeUserFile,
): Promise<Seen> {
  const { seen, file: drawn } = await drawer.draw(expectPicture(inputs));
  await write(file, drawn, cwd);
  return seen;
}

function expectPicture([input]: readonly PreparedInput[]): Picture {
  if (input?.picture === undefined) throw usageError("--draw needs an input that is a picture");
  return input.picture;
}

function mostValues({ allValues }: Pick<RunCommandOptions, "allValues">): number {
  return allValues ? Number.POSITIVE_INFINITY : MOST_VALUES;
}

function givenBy(options: RunCommandOptions, files: readonly string[]): GivenInputs {
  const { random, rate, text } = options;
  return { files, rate, text, ...(random !== undefined && { seed: random }), ...normalisationOf(options) };
}

/** Writes the trace, and returns its times as a table. */
async function writeTrace(file: string, model: string, { cwd, trace }: ModelCommandContext): Promise<string> {
  trace.stop();
  const recorded = trace.read();
  const content = JSON.stringify(toChromeTrace(recorded, { processName: `nnhal run ${basename(model)}` }));
  await writeUserFile(file, content, cwd);
  return formatTraceTable(toTraceTable(recorded));
}

async function makeFolderOf(file: string, cwd: string): Promise<void> {
  try {
    await mkdir(pathFrom(cwd, dirname(file)), { recursive: true });
  } catch (error) {
    throw usageError(`cannot write ${file}: ${reasonOf(error)}`, error);
  }
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
    await makeFolderOf(file, cwd);
    await writeChosenFile(file, bytes, cwd);
    written.push(file);
  }
  return written;
}
