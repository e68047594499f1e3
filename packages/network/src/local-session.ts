/**
 * A model that computes in this thread.
 */

import type { Step } from "@nnhal/driver-core/partition";
import { extensionName } from "@nnhal/extension-tflite/types";
import { type ExtensionDefinition, elementAt, operationText, vocabularyOf, whenLoaded } from "@nnhal/operations";
import { Compilation, Model, NeuralNetworksError, ResultCode, type StepTime } from "@nnhal/runtime";
import {
  createStates,
  type ImportedModel,
  type ImportOptions,
  importTflite,
  readTflite,
  TfliteError,
  type TfliteModel,
} from "@nnhal/tflite";
import { silentLogger } from "@nnhal/utils";
import { createMutex } from "@nnhal/utils/time";
import { describeModel } from "./describe.ts";
import { type Selection, type SelectionOptions, selectDevices } from "./devices.ts";
import type { EmptyRuns, Prepared } from "./empty-runs.ts";
import { check, NetworkError } from "./error.ts";
import { type ExecuteOptions, execute, type InputBytes, type RunTiming } from "./execute.ts";
import type { ModelFile } from "./model-file.ts";
import type {
  Asked,
  Computed,
  Description,
  ExplainedOperation,
  Explanation,
  Profile,
  Session,
  Value,
} from "./session.ts";
import { messageOf, oneLine } from "./text.ts";

/** How to open a model. Those that can be copied go to a worker, too. */
export interface SessionOptions extends SelectionOptions {
  readonly signature?: string | undefined;
  readonly inputShapes?: Readonly<Record<string, readonly number[]>> | undefined;
  readonly dynamicShapes?: boolean | undefined;
}

/** What the opening of a model has come to. */
export type Stage = "import" | "devices" | "prepare";

/** What the opening of a model tells its caller. */
export interface OpeningOptions {
  readonly onStage?: ((stage: Stage) => void) | undefined;
  readonly onWarning?: ((message: string) => void) | undefined;
  /** An engine is installed and does not work. */
  readonly onEngineWarning?: ((message: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Opens a model. Rejects with a NetworkError, or with the reason of the signal. */
export async function openLocalSession(
  bytes: Uint8Array,
  options: SessionOptions,
  { onStage, onWarning, onEngineWarning, signal }: OpeningOptions = {},
): Promise<Session> {
  const begin = async (stage: Stage) => {
    onStage?.(stage);
    // A turn of the event loop lets callers show the stage, and abort.
    await new Promise((resolve) => setTimeout(resolve, 0));
    signal?.throwIfAborted();
  };
  await begin("import");
  const importing = importOptions(options);
  const file = await readModelFile(bytes);
  const imported = await whenLoaded(() => importModel(file.content, importing));
  const tflite = await extensionFor(imported);
  await begin("devices");
  const selection = await selectDevices(options, tflite, onEngineWarning);
  try {
    await begin("prepare");
    const { cache: folder } = options;
    const cache = folder === undefined ? undefined : { folder, token: await tokenOf(bytes, importing) };
    const prepared = await prepare(imported, selection, { onFallback: onWarning }, cache);
    signal?.throwIfAborted();
    const extensions = [...(tflite ? [tflite] : []), ...(options.extensions ?? [])];
    const description = await whenLoaded(() => describeModel(file, imported, prepared.deviceNames, onWarning));
    const openEmpty = async () =>
      (await import("./empty-runs.ts")).openEmptyRuns({
        imported,
        selection,
        extend: tflite ? undefined : async () => selectDevices(options, await loadExtension()),
        importWith: (emptyInputs) => whenLoaded(() => importModel(file.content, { ...importing, emptyInputs })),
        prepare: (other, devices) => prepare(other, devices, { onFallback: onWarning }),
      });
    return createSession(description, { imported, compilation: prepared }, selection, openEmpty, extensions);
  } catch (error) {
    await selection.close();
    throw error;
  }
}

/** The token of a model in a cache. What makes it is loaded if a model is kept. */
async function tokenOf(bytes: Uint8Array, importing: ImportOptions): Promise<Uint8Array<ArrayBuffer>> {
  return (await import("./model-token.ts")).modelToken(bytes, importing);
}

/** The extension for .tflite, which is loaded if a model needs it. */
async function extensionFor({ model }: ImportedModel): Promise<ExtensionDefinition | undefined> {
  if (!model.extensionNameToPrefix.some(({ name }) => name === extensionName)) return undefined;
  return loadExtension();
}

async function loadExtension(): Promise<ExtensionDefinition> {
  return (await import("@nnhal/extension-tflite")).tfliteExtension;
}

/** The options of the import: they decide what the model is, so they are part of its token in a cache. */
function importOptions({ signature, inputShapes, dynamicShapes, extensions = [] }: SessionOptions): ImportOptions {
  return {
    customOperators: extensions,
    ...(signature !== undefined && { signature }),
    ...(inputShapes !== undefined && { inputShapes }),
    ...(dynamicShapes !== undefined && { dynamicShapes }),
  };
}

/** Reads a file. Rejects with NOT_A_MODEL for bytes that are not a .tflite file, and says what they are. */
async function readModelFile(bytes: Uint8Array): Promise<ModelFile> {
  try {
    return { bytes, content: readTflite(bytes) };
  } catch (error) {
    if (!(error instanceof TfliteError)) throw error;
    const reason = (await import("./file-kind.ts")).whyNoModel(bytes) ?? oneLine(error.message);
    throw new NetworkError("NOT_A_MODEL", `these bytes are not a .tflite model: ${reason}`, { cause: error });
  }
}

function importModel(content: TfliteModel, options: ImportOptions): ImportedModel {
  try {
    return importTflite(content, options);
  } catch (error) {
    if (!(error instanceof TfliteError)) throw error;
    const isOption = error.path.startsWith("options");
    const problems = error.problems.map(({ path, message }) => oneLine(path === "" ? message : `${path}: ${message}`));
    throw new NetworkError(
      isOption ? "BAD_OPTION" : "CANNOT_RUN",
      isOption ? oneLine(error.message) : `the model cannot run: ${oneLine(error.message)}`,
      { cause: error, problems: isOption ? [] : problems },
    );
  }
}

interface Cache {
  readonly folder: string;
  readonly token: Uint8Array;
}

/** What to observe of a compilation. */
interface Observing {
  readonly onFallback?: ((message: string) => void) | undefined;
  readonly onStep?: (time: StepTime) => void;
  readonly separateOperations?: boolean;
}

async function prepare(
  { model }: ImportedModel,
  { devices, cpu }: Selection,
  observing: Observing,
  cache?: Cache,
): Promise<Compilation> {
  try {
    const log = silentLogger;
    const compilation = new Compilation(Model.from(model, { log }), devices, {
      log,
      ...observing,
      ...(cpu && { cpu }),
    });
    if (cache !== undefined) compilation.setCaching(cache.folder, cache.token);
    await compilation.finish();
    return compilation;
  } catch (error) {
    if (!(error instanceof NeuralNetworksError)) throw error;
    const message = oneLine(error.message);
    throw new NetworkError("CANNOT_RUN", `the model cannot run: ${message}`, { cause: error, problems: [message] });
  }
}

function createSession(
  description: Description,
  prepared: Prepared,
  selection: Selection,
  openEmpty: () => Promise<EmptyRuns>,
  extensions: readonly ExtensionDefinition[],
): Session {
  const { imported, compilation } = prepared;
  const { states } = imported;
  const named = namedOperations(imported, extensions);
  const state = createStates(imported);
  let empties: Promise<EmptyRuns> | undefined;
  // A run of a model with state begins when the one before it has ended.
  const inTurn = createMutex();
  const running = new Set<Promise<unknown>>();
  const track = <Result>(work: Promise<Result>): Promise<Result> => {
    const done: Promise<unknown> = work.catch(() => {}).finally(() => running.delete(done));
    running.add(done);
    return work;
  };
  /** Inputs by place of the model: those of the caller, then the states. */
  const argumentsOf = (values: readonly Value[], model = imported): InputBytes[] => {
    const { inputs } = model;
    const argument = ({ bytes, shape }: Value, place: number): InputBytes => {
      const isOpen = elementAt(inputs, place).shape.length === 0 || elementAt(inputs, place).shape.includes(0);
      return isOpen ? { bytes, shape } : { bytes };
    };
    const all = values.slice(0, inputs.length - states.length).map(argument);
    for (const { index, bytes, dimensions } of state.inputs(model))
      all[index] = argument({ bytes, shape: dimensions }, index);
    return all;
  };
  // The NNAPI tells deadlines and asks for times of one device that was chosen, and of no others.
  const isForOne = selection.devices.length === 1 && selection.cpu === undefined;
  const once = async (
    values: readonly Value[],
    into: readonly (Uint8Array | undefined)[] = [],
    asked: Asked = {},
  ): Promise<Computed> => {
    if (!values.some(({ shape }) => shape.includes(0))) return runPrepared(prepared, values, into, asked);
    // The HAL has no requests with such values.
    empties ??= openEmpty();
    return (await empties).run(values, (other, rest) => runPrepared(other, rest, into, asked));
  };
  const runPrepared = async (
    { imported: model, compilation }: Prepared,
    values: readonly Value[],
    into: readonly (Uint8Array | undefined)[],
    { timeout, signal, measure = false }: Asked,
  ): Promise<Computed> => {
    // A run of a model with state may have waited for others.
    check(signal?.aborted !== true, "FAILED", () => "the run failed: it was stopped before it began");
    let timing: RunTiming | undefined;
    const onTiming = (measured: RunTiming) => {
      timing = measured;
    };
    const options: ExecuteOptions = { signal, ...(isForOne && { timeout }), ...(isForOne && measure && { onTiming }) };
    const results = await failing(() => execute(compilation, argumentsOf(values, model), model.outputs, into, options));
    state.update(model, (output) => {
      const { bytes, info } = elementAt(results, output);
      return { bytes, dimensions: info.shape };
    });
    const stateOutputs = new Set(model.states.map(({ output }) => output));
    const own = results.filter((_, place) => !stateOutputs.has(place));
    return { values: own.map(({ info, bytes }) => ({ bytes, shape: info.shape })), timing };
  };
  return {
    description,
    compute: (values, into, asked) =>
      track(states.length === 0 ? once(values, into, asked) : inTurn(() => once(values, into, asked))),
    explain: async () => explain(compilation, named),
    profile: (values, runs) =>
      track(inTurn(() => profile(imported, named, selection, () => argumentsOf(values), runs, compilation))),
    readState: () =>
      inTurn(async () =>
        states.map(({ name }) => {
          const { bytes, dimensions } = state.get(name);
          return { bytes, shape: dimensions };
        }),
      ),
    writeState: (values) =>
      inTurn(async () => {
        for (const [place, value] of values) {
          const { name } = elementAt(states, place);
          if (value === undefined) state.reset([name]);
          else state.set(name, { bytes: value.bytes, dimensions: value.shape });
        }
      }),
    async close() {
      await Promise.all(running);
      compilation.close();
      await (await empties?.catch(() => undefined))?.close();
      await selection.close();
    },
  };
}

async function failing<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof NeuralNetworksError)) throw error;
    const isLate =
      error.code === ResultCode.MISSED_DEADLINE_TRANSIENT || error.code === ResultCode.MISSED_DEADLINE_PERSISTENT;
    const message = `the run failed: ${oneLine(messageOf(error))}`;
    throw new NetworkError(isLate ? "TIMED_OUT" : "FAILED", message, { cause: error });
  }
}

function explain({ plan }: Compilation, named: readonly NamedOperation[]): Explanation {
  const deviceOf = (index: number | undefined) => (index === undefined ? undefined : elementAt(plan.devices, index));
  return {
    operations: plan.choices.map(({ device, reason }, index) => ({
      ...elementAt(named, index),
      device: deviceOf(device),
      reason,
    })),
    steps: plan.steps.map((step) => ({
      device: step.kind === "execution" ? deviceOf(step.device) : undefined,
      operations: operationsOf(step),
    })),
    predictedTime: plan.predictedTime / 1e6,
  };
}

/** An operation without what a plan says of it. */
type NamedOperation = Omit<ExplainedOperation, "device" | "reason">;

/** The operations of a model by name, those of extensions too. */
function namedOperations(
  { model, operators }: ImportedModel,
  extensions: readonly ExtensionDefinition[],
): NamedOperation[] {
  const prefixes = model.extensionNameToPrefix;
  const vocabulary = vocabularyOf(prefixes, { extensions });
  return model.main.operations.map(({ type }, index) => ({
    index,
    operation: operationText(type, prefixes, vocabulary),
    operator: operators[index]?.name ?? "",
  }));
}

function operationsOf(step: Step): readonly number[] {
  return step.kind === "execution" ? step.operations : [step.operation];
}

async function profile(
  imported: ImportedModel,
  named: readonly NamedOperation[],
  selection: Selection,
  inputs: () => readonly InputBytes[],
  runs: number,
  whole: Compilation,
): Promise<Profile> {
  let inRun = new Map<Step, number>();
  const onStep = ({ step, nanoseconds }: StepTime) => {
    inRun.set(step, (inRun.get(step) ?? 0) + Number(nanoseconds) / 1e6);
  };
  const apart = await prepare(imported, selection, { onStep, separateOperations: true });
  try {
    const totals: number[] = [];
    const times: ReadonlyMap<Step, number>[] = [];
    // The first run of each warms up.
    for (let run = 0; run <= runs; run++) {
      const start = performance.now();
      await failing(() => execute(whole, inputs(), imported.outputs));
      const end = performance.now();
      inRun = new Map();
      await failing(() => execute(apart, inputs(), imported.outputs));
      if (run === 0) continue;
      totals.push(end - start);
      times.push(inRun);
    }
    const { steps, choices, devices } = apart.plan;
    return {
      time: median(totals),
      operations: choices.map(({ device }, index) => {
        const step = steps.find((one) => operationsOf(one).includes(index));
        const isAlone = step !== undefined && operationsOf(step).length === 1;
        return {
          ...elementAt(named, index),
          device: device === undefined ? undefined : elementAt(devices, device),
          time: isAlone ? median(times.map((each) => each.get(step) ?? 0)) : undefined,
        };
      }),
    };
  } finally {
    apart.close();
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return elementAt(sorted, sorted.length >> 1);
}
