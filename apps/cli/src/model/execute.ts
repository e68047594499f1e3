/**
 * Runs a model on devices and measures it.
 */
import { execute, type InputBytes, type TensorValue, zeros } from "@nnhal/network/tensors";
import { elementAt } from "@nnhal/operations";
import { Compilation, type CompilationOptions, Model, NeuralNetworksError } from "@nnhal/runtime";
import { createStates, type States, type TensorDescription } from "@nnhal/tflite";
import type { ExecutionPreference } from "@nnhal/types";
import { inSection, noTracer } from "@nnhal/utils";
import type { DeviceSelection } from "../devices.ts";
import { failure } from "../failure.ts";
import { nameOperations } from "../operation-names.ts";
import { oneLine } from "../text.ts";
import { type LoadedModel, modelOfBytes } from "./load.ts";
import { shapeForBytes } from "./values.ts";

/** A model that is ready to run. */
export interface PreparedRun {
  readonly model: LoadedModel;
  readonly compilation: Compilation;
  /** Prepares another model as this one was. */
  readonly prepareAlike: (model: LoadedModel) => Promise<PreparedRun>;
}

/** How to compile a model. */
export interface PrepareRunOptions extends Omit<CompilationOptions, "cpu"> {
  readonly preference?: ExecutionPreference;
  /** Keeps prepared models in this folder, under a token of the model. Default: nothing is kept. */
  readonly cache?: { readonly directory: string; readonly token: Uint8Array };
}

/** Compiles a model for devices. Rejects with a failure that says which operation none of them takes, and why. */
export async function prepareRun(
  model: LoadedModel,
  selection: DeviceSelection,
  preparing: PrepareRunOptions = {},
): Promise<PreparedRun> {
  const { devices, cpu } = selection;
  const { preference, cache, ...options } = preparing;
  return explained(async () => {
    const { trace = noTracer } = options;
    const built = inSection(trace, "LA", "PP", "build model", () =>
      Model.from(model.model, { trace, log: options.log }),
    );
    const compilation = new Compilation(built, devices, { ...options, ...(cpu && { cpu }) });
    if (preference !== undefined) compilation.setPreference(preference);
    if (cache !== undefined) compilation.setCaching(cache.directory, cache.token);
    await inSection(trace, "LA", "PC", "compile", () => compilation.finish());
    // What is kept is of this model.
    const { cache: _cache, ...alike } = preparing;
    return { model, compilation, prepareAlike: (other) => prepareRun(other, selection, alike) };
  });
}

/** An output of a run. */
export interface OutputValue extends TensorValue {
  /** With the shape that the run gave it. */
  readonly info: TensorDescription;
}

/**
 * Runs once. `inputs`: the bytes of the user's inputs. `states`: what the run begins with and changes; by default first values.
 * Resolves to the outputs without the states.
 */
export async function runOnce(
  prepared: PreparedRun,
  inputs: readonly Uint8Array[],
  states: States = createStates(prepared.model),
): Promise<readonly OutputValue[]> {
  const { model, compilation } = prepared;
  const empty = emptyInputs(model, inputs);
  if (empty.size > 0) return runEmpty(prepared, inputs, empty, states);
  const values = inputValues(model, inputs, states);
  const results = await explained(() =>
    inSection(compilation.trace, "LA", "PE", "run", () => execute(compilation, values, model.outputs)),
  );
  states.update(model, (index) => {
    const { info, bytes } = elementAt(results, index);
    return { bytes, dimensions: info.shape };
  });
  return model.wantedOutputs.map((index) => elementAt(results, index));
}

/** The shapes of the inputs without elements, by place. */
function emptyInputs(model: LoadedModel, inputs: readonly Uint8Array[]): ReadonlyMap<number, readonly number[]> {
  const shapes = model.givenInputs.map((index, place) =>
    shapeForBytes(elementAt(model.inputs, index), elementAt(inputs, place)),
  );
  return new Map([...shapes.entries()].flatMap(([place, shape]) => (shape?.includes(0) ? [[place, shape]] : [])));
}

/** Runs once with inputs that have no elements: constants of a model that is prepared for this run, since the HAL has no such requests. */
async function runEmpty(
  { model, prepareAlike }: PreparedRun,
  inputs: readonly Uint8Array[],
  empty: ReadonlyMap<number, readonly number[]>,
  states: States,
): Promise<readonly OutputValue[]> {
  const { path, bytes, importing } = model;
  const prepared = await prepareAlike(modelOfBytes(path, bytes, { ...importing, emptyInputs: empty }));
  try {
    const rest = inputs.filter((_, place) => !empty.has(place));
    return await runOnce(prepared, rest, states);
  } finally {
    prepared.compilation.close();
  }
}

/** All inputs of a model: the user's and the states, by default with their first values. Shapes are those that the model leaves open. */
export function inputValues(
  model: LoadedModel,
  inputs: readonly Uint8Array[],
  states: States = createStates(model),
): readonly InputBytes[] {
  const values = model.inputs.map((info): InputBytes => ({ bytes: zeros(info) }));
  for (const { index, bytes, dimensions } of states.inputs(model)) {
    const isOpen = elementAt(model.inputs, index).shape.includes(0);
    values[index] = { bytes, ...(isOpen && { shape: dimensions }) };
  }
  for (const [place, index] of model.givenInputs.entries()) {
    const bytes = elementAt(inputs, place);
    values[index] = { bytes, shape: shapeForBytes(elementAt(model.inputs, index), bytes) };
  }
  return values;
}

/** Does work of which a problem of the runtime means that the model cannot run: a failure that says why. */
export async function explained<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof NeuralNetworksError)) throw error;
    const { tfliteExtension } = await import("@nnhal/extension-tflite");
    const message = nameOperations(oneLine(error.message), [tfliteExtension]);
    throw failure(`the model cannot run: ${message}`, error);
  }
}
