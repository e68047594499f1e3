/**
 * The work of `nnhal diff`: inputs of all runs, the comparison, and what is written of it.
 */
import {
  type DiffOptions,
  defaultAllowance,
  diffModel,
  type KeptState,
  type ModelDiff,
  reportDiff,
  type TensorValue,
} from "@nnhal/diff";
import { nameOperations } from "@nnhal/network/session";
import { elementAt } from "@nnhal/operations";
import { exitCodes } from "@nnhal/program";
import { createStates } from "@nnhal/tflite";
import type { ModelCommandContext } from "../context.ts";
import { judgeDevice } from "../devices.ts";
import { CommandError, failure, messageOf, usageError } from "../failure.ts";
import { writeUserFile } from "../files.ts";
import { fit } from "../fit.ts";
import { valuesOf } from "../model/execute.ts";
import {
  expectElements,
  filesOfRuns,
  type GivenInputs,
  normalisationOf,
  type PreparedInput,
  prepareInputs,
} from "../model/inputs.ts";
import { type LoadedModel, loadModel } from "../model/load.ts";
import { diffNodeData, writeNodeData } from "../model-explorer.ts";
import { allDevices, entryOf } from "../option-values.ts";
import { createProgressBar } from "../progress.ts";
import { oneLine } from "../text.ts";
import { findJudge } from "./judges.ts";
import type { DiffCommandOptions } from "./options.ts";
import { createValueCollector, diffPage } from "./page.ts";
import { createSaver } from "./pieces.ts";
import { type DiffCommandReport, formatDiff } from "./report.ts";
import { reproducePiece, shrinkPiece } from "./shrink-piece.ts";
import { createTensorRecorder } from "./tensor-files.ts";
import { reachDevices, wayText } from "./ways.ts";

/** Runs the command; the exit code is 1 if anything is wrong. Rejects with a CommandError. */
export async function runDiffCommand(
  path: string,
  files: readonly string[],
  options: DiffCommandOptions,
  context: ModelCommandContext,
): Promise<void> {
  const { cwd, stdout, stderr, devices, setExitCode } = context;
  const definitions = await devices.definitions();
  const halVersion = await devices.halVersion([options.device ?? allDevices, options.against ?? judgeDevice].join());
  const form = { hybrid: options.hybrid, customOperators: definitions, halVersion };
  const importing = { ...entryOf(options), ...form };
  const model = await loadModel(path, cwd, importing);
  const against = await findJudge(options.against ?? judgeDevice, model, context);
  const runs = await inputsOfRuns(model, files, options, context, against.inputs);
  const selection = await devices.select(options.device ?? (against.isNetwork ? judgeDevice : allDevices));
  const judge = await against.judgeOf(runs.map(({ values }) => values));
  const collector = options.html === undefined ? undefined : createValueCollector();
  const recorder = options.record === undefined ? undefined : createTensorRecorder(options.record, model, cwd);
  const bar = createProgressBar(stderr, model.model.main.operations.length);
  if (options.shrink && "recordedValue" in judge)
    throw usageError(`--shrink: expected devices as the judge, which judge smaller inputs too, got ${options.against}`);
  const { suspect, close } = await reachDevices(selection, options);
  // A signature and shapes of inputs are those of the whole network.
  const sides = {
    judge,
    suspect,
    extensions: definitions,
    importing: form,
  };
  const saver =
    options.save === undefined
      ? undefined
      : createSaver(options.save, model, {
          cwd,
          ...(!("recordedValue" in judge) && { reproduce: (piece) => reproducePiece(piece, sides) }),
          ...(options.shrink && { shrink: (piece) => shrinkPiece(piece, sides) }),
        });
  let found: ModelDiff;
  try {
    await recorder?.begin(elementAt(runs, 0).values);
    found = await compare(model, {
      suspect,
      judge,
      inputs: runs.map(({ values }) => values),
      ...(options.keepState && { states: keptStates(model) }),
      extensions: definitions,
      allowance: {
        steps: options.allow ?? (against.isNetwork ? Number.POSITIVE_INFINITY : defaultAllowance.steps),
        bias: against.isNetwork ? Number.POSITIVE_INFINITY : defaultAllowance.bias,
        relative: options.allowFloat,
      },
      onProgress: (done) => bar.moveTo(done, model.operators[done]?.name ?? ""),
      async onOperation(operation, values) {
        await saver?.take(operation, values);
        await recorder?.take(operation, values);
        await collector?.take(operation, values);
      },
    });
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw failure(nameOperations(oneLine(messageOf(error)), definitions), error);
  } finally {
    await close();
    bar.stop();
  }
  const compared = reportDiff(found, {
    model: path,
    devices: suspect.devices.map(({ name }) => `${name}${wayText(options)}`),
    against: against.names,
    isMeasured: against.isNetwork,
    inputs: runs.map(({ source }) => source),
    operators: model.operators,
    operandNames: model.operandNames,
    outputIndexes: model.model.main.outputIndexes,
  });
  const report: DiffCommandReport = {
    ...compared,
    ...(options.modelExplorer !== undefined && {
      nodeData: await writeNodeData(options.modelExplorer, diffNodeData(compared), cwd),
    }),
    saved: saver?.listSaved() ?? [],
    unsaved: saver?.listUnsaved() ?? [],
    ...(recorder &&
      options.record !== undefined && { recorded: { folder: options.record, tensors: recorder.count() } }),
  };
  if (options.html !== undefined)
    await writeUserFile(options.html, diffPage(report, model.model, collector?.listShown() ?? []), cwd);
  stdout.write(options.json ? `${JSON.stringify(report)}\n` : fit(formatDiff(report, options), stdout.columns));
  if (!report.isRight) setExitCode(exitCodes.failed);
}

function compare({ model }: LoadedModel, options: DiffOptions): Promise<ModelDiff> {
  return diffModel(model, options);
}

/** The states that the network keeps. Throws a usage error if that is nothing. */
function keptStates({ path, states }: LoadedModel): readonly KeptState[] {
  const kept = states.flatMap(({ input, output }) => (output === undefined ? [] : { input, output }));
  if (kept.length === 0)
    throw usageError(
      `--keep-state: expected a network that keeps something between runs, got ${path}, which keeps nothing`,
    );
  return kept;
}

/** The values of a run, with those of the states, and where they are from. */
interface GivenRun {
  readonly source: string;
  readonly values: readonly TensorValue[];
}

/** Rejects with a usage error. */
async function inputsOfRuns(
  model: LoadedModel,
  files: readonly string[],
  options: DiffCommandOptions,
  context: ModelCommandContext,
  recorded: readonly PreparedInput[] | undefined,
): Promise<readonly GivenRun[]> {
  if (recorded !== undefined && files.length === 0 && options.random === undefined) return [givenRun(model, recorded)];
  const noise = Array.from({ length: options.random ?? 1 }, (_, run): GivenInputs => ({ files: [], seed: run + 1 }));
  const given: readonly GivenInputs[] =
    files.length === 0
      ? noise
      : (await filesOfRuns(model, files, context.cwd)).map((own) => ({ files: own, ...normalisationOf(options) }));
  const runs: GivenRun[] = [];
  for (const each of given) {
    const prepared = await prepareInputs(model, each, context);
    expectElements("compare", prepared);
    const source = each.seed === undefined ? each.files.join(", ") : `noise of seed ${each.seed}`;
    runs.push(givenRun(model, prepared, source));
  }
  return runs;
}

function givenRun(
  model: LoadedModel,
  prepared: readonly PreparedInput[],
  source = prepared.map((each) => each.source).join(", "),
): GivenRun {
  const values = valuesOf(
    model,
    prepared.map(({ bytes }) => bytes),
  );
  return { source, values: withStates(model, values) };
}

/** The values of all inputs, in the order of the model: those of the user, and the first values of what the model keeps between runs. */
function withStates(model: LoadedModel, given: ReturnType<typeof valuesOf>): readonly TensorValue[] {
  const all: TensorValue[] = [];
  for (const [place, index] of model.givenInputs.entries()) {
    const { bytes, shape } = elementAt(given, place);
    all[index] = { bytes, dimensions: shape ?? elementAt(model.inputs, index).shape };
  }
  for (const { index, bytes, dimensions } of createStates(model).inputs(model)) all[index] = { bytes, dimensions };
  return all;
}
