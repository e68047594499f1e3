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
import type { LoadedModel } from "./load.ts";
import { shapeForBytes } from "./values.ts";

/** A model that is ready to run. */
export interface PreparedRun {
  readonly model: LoadedModel;
  readonly compilation: Compilation;
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
  { devices, cpu }: DeviceSelection,
  { preference, cache, ...options }: PrepareRunOptions = {},
): Promise<PreparedRun> {
  return explained(async () => {
    const { trace = noTracer } = options;
    const built = inSection(trace, "LA", "PP", "build model", () =>
      Model.from(model.model, { trace, log: options.log }),
    );
    const compilation = new Compilation(built, devices, { ...options, ...(cpu && { cpu }) });
    if (preference !== undefined) compilation.setPreference(preference);
    if (cache !== undefined) compilation.setCaching(cache.directory, cache.token);
    await inSection(trace, "LA", "PC", "compile", () => compilation.finish());
    return { model, compilation };
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
  { model, compilation }: PreparedRun,
  inputs: readonly Uint8Array[],
  states: States = createStates(model),
): Promise<readonly OutputValue[]> {
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
