/**
 * Loads the .tflite file that a user names.
 */
import { basename } from "node:path";
import { byteSize, tensorText } from "@nnhal/network/tensors";
import {
  type ImportedModel,
  type ImportOptions,
  importTflite,
  inspectTflite,
  type TensorDescription,
  TfliteError,
  type TfliteInspection,
} from "@nnhal/tflite";
import { type CommandError, failure } from "../failure.ts";
import { readUserFile } from "../files.ts";
import { oneLine } from "../text.ts";

/** A model and the tensors that its user deals with. */
export interface LoadedModel extends ImportedModel {
  /** As the user named it. */
  readonly path: string;
  /** The file. */
  readonly bytes: Uint8Array;
  /** Places of the inputs that are not states. */
  readonly givenInputs: readonly number[];
  /** Places of the outputs that the user gets: all but the states'. */
  readonly wantedOutputs: readonly number[];
}

/** A file that was read, whether or not it can run. */
export interface InspectedFile {
  /** As the user named it. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly inspection: TfliteInspection;
}

/** More could not be read from a file either. */
const MOST_TENSOR_BYTES = 2 ** 31;

/**
 * Loads a model. Rejects with a usage error if there is no file, and with a failure if the HAL cannot run its model.
 */
export async function loadModel(path: string, cwd: string, options: ImportOptions = {}): Promise<LoadedModel> {
  return modelOfBytes(path, await readUserFile(path, { what: "model", cwd }), options);
}

/** The model in the bytes of a file. Throws a failure if the HAL cannot run it. */
export function modelOfBytes(path: string, bytes: Uint8Array, options: ImportOptions = {}): LoadedModel {
  return loaded(
    path,
    bytes,
    described(path, () => importTflite(bytes, options)),
  );
}

/** Reads a file that need not be able to run. Rejects with a usage error if there is none, and with a failure if it is broken. */
export async function inspectFile(path: string, cwd: string, options: ImportOptions = {}): Promise<InspectedFile> {
  const bytes = await readUserFile(path, { what: "model", cwd });
  return { path, bytes, inspection: described(path, () => inspectTflite(bytes, options)) };
}

/** The model of a file; undefined if it has problems. Throws a failure for a model that is too large. */
export function modelOfFile({ path, bytes, inspection: { imported } }: InspectedFile): LoadedModel | undefined {
  return imported && loaded(path, bytes, imported);
}

/** The failure that a TfliteError means for a user. */
function unusable(path: string, error: TfliteError): CommandError {
  const more = error.problemCount > 1 ? "; nnhal info lists all" : "";
  return failure(`the model ${basename(path)} cannot be used: ${oneLine(error.message)}${more}`, error);
}

function described<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw error instanceof TfliteError ? unusable(path, error) : error;
  }
}

function loaded(path: string, bytes: Uint8Array, imported: ImportedModel): LoadedModel {
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
    bytes,
    givenInputs: placesOutside(imported.inputs, stateInputs),
    wantedOutputs: placesOutside(imported.outputs, stateOutputs),
  };
}

function placesOutside(tensors: readonly TensorDescription[], excluded: ReadonlySet<number>): number[] {
  return [...tensors.keys()].filter((place) => !excluded.has(place));
}
