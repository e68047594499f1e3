/**
 * The work behind the page, in a worker: reads files, lays graphs out, and summarises constants. All answers are plain values.
 */
import type { DiffReport } from "@nnhal/diff";
import type { Explanation, Profile } from "@nnhal/network";
import { whyNoModel } from "@nnhal/network/tensors";
import { whenLoaded } from "@nnhal/operations";
import {
  type InspectionOptions,
  inspectTflite,
  mayHaveParts,
  readTflite,
  TfliteError,
  type TfliteModel,
  tfliteParts,
} from "@nnhal/tflite";
import { modelIssues } from "@nnhal/validation";
import { addOutcomes, describeContent, type FileView } from "./file-view.ts";
import { drawSubgraph, type GraphView } from "./graph-view.ts";
import { type GivenInputs, type ModelView, type Placement, prepareModel, type Runner, type RunView } from "./runner.ts";
import { type TensorValues, valuesOf } from "./tensor-values.ts";

/** A file that was opened, with the graph that is shown first. */
export interface OpenedFile {
  readonly file: FileView;
  readonly graph: GraphView;
}

/** The functions of the worker that the page calls. All reject with an Error whose message can be shown. */
export interface Engine {
  /** Opens a file, whether or not its model can run. Rejects if it is not a .tflite file. */
  open(bytes: Uint8Array, name: string): Promise<OpenedFile>;
  /** Examines the open file: the file with what becomes of its operators, and why. */
  examine(): Promise<FileView>;
  /** Lays out another graph of the file. */
  graph(subgraph: number): Promise<GraphView>;
  /** Values of a tensor of the file. */
  values(subgraph: number, tensor: number): Promise<TensorValues>;
  /** Prepares the model of the open file to run; the one before is freed. */
  prepare(placement: Placement, onStage: (stage: string) => void): Promise<ModelView>;
  /** Runs the prepared model. Inputs without a value are zeros. */
  run(inputs: GivenInputs): Promise<RunView>;
  /** Sets the states of the prepared model to those of the start. */
  resetState(): Promise<void>;
  /** Which device computes each operation of the prepared model, and why. */
  explain(): Promise<Explanation>;
  /** Milliseconds of each operation: medians of some runs. */
  profile(inputs: GivenInputs, runs: number): Promise<Profile>;
  /** Holds each operation of the prepared model against that of other devices, on noise. */
  diff(against: string, onProgress: (done: number, total: number) => void): Promise<DiffReport>;
  /** Frees the prepared model. */
  end(): Promise<void>;
}

/** A file in the worker. */
interface CurrentFile {
  readonly bytes: Uint8Array;
  readonly model: TfliteModel;
  readonly view: FileView;
}

/** Makes an engine without a file. */
export function createEngine(): Engine {
  let current: CurrentFile | undefined;
  let runner: Runner | undefined;
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
  const graph = async (subgraph: number) => {
    const part = expectFile().view.subgraphs[subgraph];
    if (part === undefined) throw new Error(`subgraph: expected one of the file, got ${subgraph}`);
    return drawSubgraph(part);
  };
  return {
    async open(given, name) {
      const bytes = await modelIn(given);
      const model = await readModel(bytes);
      await endRunner();
      current = { bytes, model, view: describeContent(name, given.length, model) };
      return { file: current.view, graph: await graph(0) };
    },
    async examine() {
      const { bytes, view } = expectFile();
      const validate: InspectionOptions["validate"] = (model) =>
        modelIssues(model, { mode: "runtime", extensions: [] });
      return addOutcomes(view, await whenLoaded(() => inspectTflite(bytes, { validate })));
    },
    graph,
    async values(subgraph, tensor) {
      const found = expectFile().model.subgraphs[subgraph]?.tensors[tensor];
      if (found === undefined) throw new Error(`tensor: expected one of subgraph ${subgraph}, got ${tensor}`);
      return valuesOf(found);
    },
    async prepare(placement, onStage) {
      const { bytes } = expectFile();
      await endRunner();
      runner = await prepareModel(bytes, placement, onStage);
      return runner.view;
    },
    run: async (inputs) => expectRunner().run(inputs),
    resetState: async () => expectRunner().resetState(),
    explain: async () => expectRunner().explain(),
    profile: async (inputs, runs) => expectRunner().profile(inputs, runs),
    diff: async (against, onProgress) => expectRunner().diff(against, onProgress),
    end: endRunner,
  };
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
