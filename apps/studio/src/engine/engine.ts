/**
 * The work behind the page, in a worker: reads files, lays graphs out, and summarises constants. All answers are plain values.
 */
import type { DiffReport } from "@nnhal/diff";
import type { Explanation, Profile } from "@nnhal/network";
import { type Labels, whyNoModel } from "@nnhal/network/tensors";
import { type ExtensionDefinition, whenLoaded } from "@nnhal/operations";
import {
  type ImportedModel,
  type InspectionOptions,
  inspectTflite,
  mayHaveParts,
  readTflite,
  TfliteError,
  type TfliteModel,
  tfliteParts,
} from "@nnhal/tflite";
import { newestHalVersion } from "@nnhal/types";
import { modelIssues } from "@nnhal/validation";
import { addOutcomes, describeContent, type FileView } from "./file-view.ts";
import type { GivenInputs } from "./given-inputs.ts";
import { type GivenLabels, type LabelsView, readLabels } from "./given-labels.ts";
import { drawSubgraph, type GraphView } from "./graph-view.ts";
import type { Group } from "./groups.ts";
import { mergePairs, type OperatorPair, pairOperators } from "./pair-operators.ts";
import type { RunView } from "./run-model.ts";
import { diffFiles, type ModelView, type Placement, prepareModel, type Runner, type Watch } from "./runner.ts";
import { type TensorValues, valuesOf } from "./tensor-values.ts";

/** A file that was opened, with the graph that is shown first. */
export interface OpenedFile {
  readonly file: FileView;
  readonly graph: GraphView;
}

/** Another file beside the open one. */
export interface OtherFile {
  readonly file: FileView;
  /** The operators of the main subgraphs of both; undefined if one of them cannot be imported or the inputs are not alike. */
  readonly pairs: readonly OperatorPair[] | undefined;
  /** Why there are no pairs; undefined: there are. */
  readonly reason: string | undefined;
}

/** Classes with names that were given. */
export interface NamedClasses {
  /** undefined: the names of the file itself. */
  readonly view: LabelsView | undefined;
  /** The results of the last run with these names; undefined if nothing has run. */
  readonly run: RunView | undefined;
}

/** The functions of the worker that the page calls. All reject with an Error whose message can be shown. */
export interface Engine {
  /** Opens a file, whether or not its model can run. Rejects if it is not a .tflite file. */
  open(bytes: Uint8Array, name: string): Promise<OpenedFile>;
  /** Examines the open file: the file with what becomes of its operators, and why. */
  examine(): Promise<FileView>;
  /** Lays out a graph of the file, with the groups that are drawn as one box. */
  graph(subgraph: number, groups?: readonly Group[]): Promise<GraphView>;
  /** Values of a tensor of the file. */
  values(subgraph: number, tensor: number): Promise<TensorValues>;
  /** Prepares the model of the open file to run; the one before is freed. */
  prepare(placement: Placement, onStage: (stage: string) => void): Promise<ModelView>;
  /** Runs the prepared model. Inputs without a value are zeros. */
  run(inputs: GivenInputs): Promise<RunView>;
  /**
   * Names the classes of the open file in the runs to come; undefined: as the file itself does. Rejects for a file that is not one of labels,
   * and leaves those that were.
   */
  nameClasses(given: GivenLabels | undefined): Promise<NamedClasses>;
  /** Sets the states of the prepared model to those of the start. */
  resetState(): Promise<void>;
  /** Which device computes each operation of the prepared model, and why. */
  explain(): Promise<Explanation>;
  /** Milliseconds of each operation: medians of some runs. */
  profile(inputs: GivenInputs, runs: number): Promise<Profile>;
  /**
   * Holds each operation of the prepared model against that of a device of the same place, or of the reference where the device does not take
   * it. Inputs without a value are noise.
   */
  diff(against: string, inputs: GivenInputs, onProgress: (done: number, total: number) => void): Promise<DiffReport>;
  /** Opens and examines another file, to compare the open one with, until that changes. Rejects if it is not a .tflite file. */
  openOther(bytes: Uint8Array, name: string): Promise<OtherFile>;
  /**
   * Holds each operation of the open file, on the reference, against the exact results of the other file. Inputs are by the names of the
   * open file, and go to those of the other in their order; those without a value are noise.
   */
  diffOther(
    placement: Pick<Placement, "signature" | "inputShapes">,
    inputs: GivenInputs,
    onProgress: (done: number, total: number) => void,
  ): Promise<DiffReport>;
  /** Ends the comparison that goes on, which rejects. */
  stop(): Promise<void>;
  /** Frees the prepared model. */
  end(): Promise<void>;
}

/** A file in the worker. */
interface CurrentFile {
  readonly bytes: Uint8Array;
  readonly model: TfliteModel;
  readonly view: FileView;
  /** Extensions of its custom operators. */
  readonly extensions: readonly ExtensionDefinition[];
  /** undefined: it has not been examined, or cannot be imported. */
  readonly imported?: ImportedModel | undefined;
}

/** Makes an engine without a file. */
export function createEngine(): Engine {
  let current: CurrentFile | undefined;
  let other: CurrentFile | undefined;
  let runner: Runner | undefined;
  let labels: Labels | undefined;
  let stopping: AbortController | undefined;
  const watch = (onProgress: Watch["onProgress"]): Watch => {
    stopping = new AbortController();
    return { onProgress, signal: stopping.signal };
  };
  const expectRunner = () => {
    if (runner === undefined) throw new Error("expected a prepared model, got none");
    return runner;
  };
  const endRunner = async () => {
    const before = runner;
    runner = undefined;
    await before?.close();
  };
  const expectFile = () => {
    if (current === undefined) throw new Error("expected an open file, got none");
    return current;
  };
  const graph = async (subgraph: number, groups: readonly Group[] = []) => {
    const part = expectFile().view.subgraphs[subgraph];
    if (part === undefined) throw new Error(`subgraph: expected one of the file, got ${subgraph}`);
    return drawSubgraph(part, groups);
  };
  return {
    async open(given, name) {
      const opened = await readFile(given, name);
      await endRunner();
      current = opened;
      other = undefined;
      labels = undefined;
      return { file: current.view, graph: await graph(0) };
    },
    async examine() {
      current = await examineFile(expectFile());
      return current.view;
    },
    graph,
    async values(subgraph, tensor) {
      const found = expectFile().model.subgraphs[subgraph]?.tensors[tensor];
      if (found === undefined) throw new Error(`tensor: expected one of subgraph ${subgraph}, got ${tensor}`);
      return valuesOf(found);
    },
    async prepare(placement, onStage) {
      const file = expectFile();
      await endRunner();
      runner = await prepareModel(file, placement, onStage, labels);
      return runner.view;
    },
    run: async (inputs) => expectRunner().run(inputs),
    async nameClasses(given) {
      expectFile();
      labels = given && readLabels(given);
      const view = given && labels && { kind: given.kind, name: given.name, count: labels.names.length };
      return { view, run: await runner?.nameClasses(labels) };
    },
    resetState: async () => expectRunner().resetState(),
    explain: async () => expectRunner().explain(),
    profile: async (inputs, runs) => expectRunner().profile(inputs, runs),
    diff: async (against, inputs, onProgress) => expectRunner().diff(against, inputs, watch(onProgress)),
    async openOther(given, name) {
      const one = expectFile();
      other = await examineFile(await readFile(given, name));
      return beside(one, other);
    },
    async diffOther(placement, inputs, onProgress) {
      if (other === undefined) throw new Error("expected another file to compare with, got none");
      return diffFiles(expectFile(), other, placement, inputs, watch(onProgress));
    },
    stop: async () => stopping?.abort(new Error("the comparison was stopped")),
    end: endRunner,
  };
}

/** Reads a file. Rejects with the reason if it has no model. */
async function readFile(given: Uint8Array, name: string): Promise<CurrentFile> {
  const bytes = await modelIn(given);
  const model = await readModel(bytes);
  return { bytes, model, view: describeContent(name, given.length, model), extensions: await extensionsOf(model) };
}

/** The extensions that the page has, if the file has an operator of one. */
async function extensionsOf({ subgraphs }: TfliteModel): Promise<readonly ExtensionDefinition[]> {
  const customs = new Set(subgraphs.flatMap(({ operators }) => operators.map(({ customCode }) => customCode)));
  customs.delete(undefined);
  if (customs.size === 0) return [];
  const { mediapipe } = await import("@nnhal/extension-mediapipe");
  return mediapipe.operations.some(({ name }) => customs.has(name)) ? [mediapipe] : [];
}

async function examineFile(file: CurrentFile): Promise<CurrentFile> {
  const validate: InspectionOptions["validate"] = (model) =>
    modelIssues(model, { mode: "runtime", extensions: file.extensions });
  const options: InspectionOptions = { validate, customOperators: file.extensions, halVersion: newestHalVersion };
  const inspection = await whenLoaded(() => inspectTflite(file.bytes, options));
  return { ...file, view: addOutcomes(file.view, inspection), imported: inspection.imported };
}

/** Puts the operators of two examined files beside each other. */
async function beside(one: CurrentFile, other: CurrentFile): Promise<OtherFile> {
  const file = other.view;
  if (one.imported === undefined || other.imported === undefined)
    return { file, pairs: undefined, reason: `${(one.imported === undefined ? one : other).view.name} cannot run` };
  try {
    const counts = [one, other].map(({ view }) => view.subgraphs[view.main]?.operators.length ?? 0);
    const pairs = await pairOperators(one.imported, other.imported);
    return { file, pairs: mergePairs(pairs, counts[0] ?? 0, counts[1] ?? 0), reason: undefined };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { file, pairs: undefined, reason: error.message };
  }
}

/** The FlatBuffer in a file: the file itself, or the first model of a container. */
async function modelIn(bytes: Uint8Array): Promise<Uint8Array> {
  if (!mayHaveParts(bytes)) return bytes;
  const part = (await tfliteParts(bytes)).find(({ type }) => type === "model");
  if (part === undefined) throw new Error("expected a container with a .tflite model, got one without");
  return part.read();
}

/** Reads a file. Rejects with the reason if the bytes are not a .tflite file. */
async function readModel(bytes: Uint8Array): Promise<TfliteModel> {
  try {
    return await whenLoaded(() => readTflite(bytes));
  } catch (error) {
    if (!(error instanceof TfliteError)) throw error;
    throw new Error(`this is not a .tflite file: ${whyNoModel(bytes) ?? error.message}`, { cause: error });
  }
}
