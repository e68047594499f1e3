/**
 * Runs a model on devices: the session of @nnhal/network, with tensors as commands show them and the messages of commands.
 */
import { NetworkError } from "@nnhal/network";
import {
  type InputBytes,
  type PreparedSession,
  type PrepareOptions,
  prepareSession,
  refusalOfModel,
} from "@nnhal/network/session";
import type { TensorValue } from "@nnhal/network/tensors";
import { elementAt } from "@nnhal/operations";
import type { States, TensorDescription } from "@nnhal/tflite";
import type { DeviceSelection } from "../devices.ts";
import { type CommandError, failure, messageOf } from "../failure.ts";
import { oneLine, plain } from "../text.ts";
import { type LoadedModel, withEmptyInputs } from "./load.ts";
import { shapeForBytes } from "./values.ts";

/** A model that is ready to run. */
export interface PreparedRun {
  readonly model: LoadedModel;
  readonly session: PreparedSession;
  /** If true, a run begins with the states that the previous run left. Default: with the initial values. */
  readonly carriesStates: boolean;
}

/** Options for preparing a model. */
export interface PrepareRunOptions extends PrepareOptions {
  /** States that runs begin with and change, one after the other. Default: each run begins with first values. */
  readonly carried?: States | undefined;
}

/** Prepares a model for devices. Rejects with a failure that says which operation none of them takes, and why. */
export async function prepareRun(
  model: LoadedModel,
  selection: DeviceSelection,
  { carried, ...preparing }: PrepareRunOptions = {},
): Promise<PreparedRun> {
  const session = await explainFailure(model, () =>
    prepareSession({
      imported: model,
      selection,
      importEmpty: async (shapes) => withEmptyInputs(model, shapes),
      preparing,
      states: carried,
    }),
  );
  return { model, session, carriesStates: carried !== undefined };
}

/** An output of a run. */
export interface OutputValue extends TensorValue {
  /** With the shape that the run gave it. */
  readonly info: TensorDescription;
}

/** Runs once. `inputs`: the bytes of the user's inputs. Resolves to the outputs without the states. */
export async function runOnce(
  { model, session, carriesStates }: PreparedRun,
  inputs: readonly Uint8Array[],
): Promise<readonly OutputValue[]> {
  if (!carriesStates) session.states.reset();
  const { values } = await explainFailure(model, () => session.compute(valuesOf(model, inputs)));
  return values.map(({ bytes, shape }, place) => {
    const info = elementAt(model.outputs, elementAt(model.wantedOutputs, place));
    return { info: { ...info, shape }, bytes };
  });
}

/** The user's inputs, with shapes where the model leaves an extent open. */
export function valuesOf(model: LoadedModel, inputs: readonly Uint8Array[]): readonly InputBytes[] {
  return model.givenInputs.map((index, place) => {
    const bytes = elementAt(inputs, place);
    return { bytes, shape: shapeForBytes(elementAt(model.inputs, index), bytes) };
  });
}

/** The states as the last run left them, in the order of the model. */
export function stateValues(model: LoadedModel, states: States): readonly OutputValue[] {
  return model.states.map(({ name, input }) => {
    const { bytes, dimensions } = states.get(name);
    return { info: { ...elementAt(model.inputs, input), name, shape: dimensions }, bytes };
  });
}

/** Does work of which a problem of the runtime means that the model cannot run: a failure that says why. */
export async function explainFailure<Result>(model: LoadedModel, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof NetworkError ? await failureOf(model, error) : error;
  }
}

/** The failure of a command whose model cannot run: it names the operators of the file. */
export async function failureOf(model: LoadedModel, error: NetworkError): Promise<CommandError> {
  const { tfliteExtension } = await import("@nnhal/extension-tflite");
  const { path, content, importing } = model;
  const extensions = [tfliteExtension, ...(importing.customOperators ?? [])];
  const refusal = await refusalOfModel(error, {
    named: ` ${plain(path)}`,
    content,
    imported: model,
    importing,
    extensions,
  });
  return failure(oneLine(messageOf(refusal)), error);
}
