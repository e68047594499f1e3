/**
 * Loads the .tflite file that a user names.
 */
import { basename } from "node:path";
import { type ImportedModel, importTflite, type TensorDescription, TfliteError } from "@nnhal/tflite";
import { failure } from "../failure.ts";
import { readUserFile } from "../files.ts";
import { oneLine } from "../text.ts";
import { byteSize, tensorText } from "./tensor.ts";

/** A model and the tensors that its user deals with. */
export interface LoadedModel extends ImportedModel {
  /** As the user named it. */
  readonly path: string;
  /** Places of the inputs that are not states. */
  readonly givenInputs: readonly number[];
  /** Places of the outputs that the user gets: all but the states'. */
  readonly wantedOutputs: readonly number[];
}

/** More could not be read from a file either. */
const MOST_TENSOR_BYTES = 2 ** 31;

/**
 * Loads a model. Rejects with a usage error if there is no file, and with a failure if the HAL cannot run its model.
 */
export async function loadModel(path: string, cwd: string): Promise<LoadedModel> {
  const bytes = await readUserFile(path, { what: "model", cwd });
  const imported = importModel(path, bytes);
  for (const tensor of [...imported.inputs, ...imported.outputs]) {
    if (byteSize(tensor) > MOST_TENSOR_BYTES) {
      throw failure(`the model ${basename(path)} cannot be used: ${tensorText(tensor)} takes more than 2 GiB`);
    }
  }
  const stateInputs = new Set(imported.states.map(({ input }) => input));
  const stateOutputs = new Set(imported.states.map(({ output }) => output));
  return {
    ...imported,
    path,
    givenInputs: placesOutside(imported.inputs, stateInputs),
    wantedOutputs: placesOutside(imported.outputs, stateOutputs),
  };
}

function importModel(path: string, bytes: Uint8Array): ImportedModel {
  try {
    return importTflite(bytes);
  } catch (error) {
    if (!(error instanceof TfliteError)) throw error;
    throw failure(`the model ${basename(path)} cannot be used: ${oneLine(error.message)}`, error);
  }
}

function placesOutside(tensors: readonly TensorDescription[], excluded: ReadonlySet<number>): number[] {
  return [...tensors.keys()].filter((place) => !excluded.has(place));
}
