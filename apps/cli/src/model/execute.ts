/**
 * Runs a model on devices and measures it.
 */
import { encodeTensorData } from "@nnhal/backend";
import { byteSize, elementsOf, type TensorValue } from "@nnhal/network/tensors";
import { createData, elementAt } from "@nnhal/operations";
import {
  Compilation,
  type CompilationOptions,
  Execution,
  Model,
  NeuralNetworksError,
  ResultCode,
} from "@nnhal/runtime";
import type { TensorDescription } from "@nnhal/tflite";
import type { ExecutionPreference } from "@nnhal/types";
import { inSection, noTracer } from "@nnhal/utils";
import type { DeviceSelection } from "../devices.ts";
import { failure } from "../failure.ts";
import { oneLine } from "../text.ts";
import type { LoadedModel } from "./load.ts";

/** A model that is ready to run. */
export interface PreparedRun {
  readonly model: LoadedModel;
  readonly compilation: Compilation;
}

/** How to compile a model. */
export interface PrepareRunOptions extends Omit<CompilationOptions, "cpu"> {
  readonly preference?: ExecutionPreference;
}

/** Compiles a model for devices. Rejects with a failure that says which operation none of them takes, and why. */
export async function prepareRun(
  model: LoadedModel,
  { devices, cpu }: DeviceSelection,
  { preference, ...options }: PrepareRunOptions = {},
): Promise<PreparedRun> {
  return explained(async () => {
    const { trace = noTracer } = options;
    const built = inSection(trace, "LA", "PP", "build model", () => Model.from(model.model, options));
    const compilation = new Compilation(built, devices, { ...options, ...(cpu && { cpu }) });
    if (preference !== undefined) compilation.setPreference(preference);
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
 * Runs once. `inputs`: the bytes of the user's inputs; states start at zero. Resolves to the outputs without the
 * states.
 */
export async function runOnce(
  { model, compilation }: PreparedRun,
  inputs: readonly Uint8Array[],
): Promise<readonly OutputValue[]> {
  const values = model.inputs.map(zeros);
  for (const [place, index] of model.givenInputs.entries()) values[index] = elementAt(inputs, place);
  const shapes = await explained(() =>
    inSection(compilation.trace, "LA", "PE", "run", () => execute(compilation, values, model.outputs)),
  );
  return model.wantedOutputs.map((index) => elementAt(shapes, index));
}

async function execute(
  compilation: Compilation,
  inputs: readonly Uint8Array[],
  outputs: readonly TensorDescription[],
  mayGrow = true,
): Promise<readonly OutputValue[]> {
  const buffers = outputs.map((info) => new Uint8Array(byteSize(info)));
  const execution = new Execution(compilation);
  for (const [index, bytes] of inputs.entries()) execution.setInput(index, bytes);
  for (const [index, bytes] of buffers.entries()) execution.setOutput(index, bytes);
  const shapeOf = (index: number) =>
    execution.getOutputOperandRank(index) === 0 ? [] : execution.getOutputOperandDimensions(index);
  const shaped = () => outputs.map((info, index) => ({ ...info, shape: shapeOf(index) }));
  try {
    await execution.compute();
  } catch (error) {
    const isTooSmall = error instanceof NeuralNetworksError && error.code === ResultCode.OUTPUT_INSUFFICIENT_SIZE;
    // Outputs of open shape have no room at first: the answer says how much they need.
    if (isTooSmall && mayGrow) return execute(compilation, inputs, shaped(), false);
    throw error;
  }
  return shaped().map((info, index) => ({ info, bytes: elementAt(buffers, index).subarray(0, byteSize(info)) }));
}

/** Elements of the real value 0. */
function zeros(info: TensorDescription): Uint8Array {
  const { type, shape, zeroPoint } = info;
  const bytes = new Uint8Array(byteSize(info));
  encodeTensorData(type, createData(type, elementsOf(shape)).fill(zeroPoint), bytes);
  return bytes;
}

async function explained<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NeuralNetworksError) throw failure(`the model cannot run: ${oneLine(error.message)}`, error);
    throw error;
  }
}
