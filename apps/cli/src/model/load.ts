/**
 * Loads the .tflite file that a user names.
 */
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { NetworkError } from "@nnhal/network";
import { type ModelBytes, type ModelFile, readModelApart, readOutside } from "@nnhal/network/session";
import { byteSize, tensorText, whyNoModel } from "@nnhal/network/tensors";
import {
  hasExternalBuffers,
  type ImportedModel,
  type ImportOptions,
  type InspectionOptions,
  inspectTflite,
  type TensorDescription,
  TfliteError,
  type TfliteInspection,
} from "@nnhal/tflite";
import { modelIssues } from "@nnhal/validation";
import { failure, usageError } from "../failure.ts";
import { pathFrom, readUserFile } from "../files.ts";
import type { ExternalBuffers, LoadOptions } from "../option-values.ts";
import { oneLine, plain } from "../text.ts";
import { blockedFailure } from "./blocked.ts";

/** A model and the tensors that its user deals with. */
export interface LoadedModel extends ImportedModel, ModelFile {
  /** As the user named it. */
  readonly path: string;
  /** The part that it is of a container. */
  readonly part?: string;
  /** The options of the import. */
  readonly importing: ImportOptions;
  /** Places of the inputs that are not states. */
  readonly givenInputs: readonly number[];
  /** Places of the outputs that the user gets: all but the states'. */
  readonly wantedOutputs: readonly number[];
}

/** A file that was read, whether or not it can run. */
export interface InspectedFile extends ModelBytes {
  /** As the user named it. */
  readonly path: string;
  readonly importing: ImportOptions;
  readonly inspection: TfliteInspection;
}

/** More could not be read from a file either. */
const MOST_TENSOR_BYTES = 2 ** 31;

/**
 * Loads a model. Rejects with a usage error if there is no file, if it is not a .tflite file or if it lacks the signature, and with a
 * failure if the HAL cannot run its model.
 */
export async function loadModel(path: string, cwd: string, options: LoadOptions = {}): Promise<LoadedModel> {
  const file = await inspectFile(path, cwd, options);
  const model = modelOfFile(file);
  if (model !== undefined) return model;
  throw blockedFailure(path, file.inspection);
}

/** The model in the bytes of a file. Throws as `loadModel` rejects. */
export function modelOfBytes(path: string, bytes: Uint8Array, options: ImportOptions = {}): LoadedModel {
  return modelOfInspected(inspectBytes(path, bytes, options));
}

function modelOfInspected(file: InspectedFile): LoadedModel {
  const model = modelOfFile(file);
  if (model !== undefined) return model;
  throw blockedFailure(file.path, file.inspection);
}

/** The same model with inputs without elements as constants, by their places. Throws as `loadModel` rejects. */
export function withEmptyInputs(
  { path, bytes, content, importing }: LoadedModel,
  emptyInputs: NonNullable<ImportOptions["emptyInputs"]>,
): LoadedModel {
  return modelOfInspected(inspectBytes(path, bytes, { ...importing, emptyInputs }, content));
}

/** Reads a file whose model need not be able to run. Rejects with a usage error if there is none, or if it is not a .tflite file. */
export async function inspectFile(
  path: string,
  cwd: string,
  { externalBuffers, part: wanted, ...options }: LoadOptions = {},
): Promise<InspectedFile> {
  const onStart = (start: Uint8Array) => {
    // Says what it is.
    if (!isTflite(start)) inspectBytes(path, start, options);
  };
  const { bytes, part, ...outside } = await readModel(path, cwd, { externalBuffers, part: wanted, onStart });
  return { ...inspectBytes(path, bytes, { ...options, ...outside }), ...(part !== undefined && { part }) };
}

/** Returns true if a file begins as a .tflite file does. */
export function isTflite(start: Uint8Array): boolean {
  return String.fromCharCode(...start.subarray(4, 8)) === "TFL3";
}

/** Options for reading the file of a model. */
interface ModelFileOptions {
  readonly externalBuffers: ExternalBuffers | undefined;
  readonly part: string | undefined;
  /** Receives the first bytes before the others are read. What it throws ends the reading. */
  readonly onStart: (start: Uint8Array) => void;
}

/** The file of a model, or its part of a container, and its constants that lie elsewhere. Rejects with a usage error, which names the models in a folder. */
export async function readModel(
  path: string,
  cwd: string,
  { externalBuffers, part, onStart }: ModelFileOptions,
): Promise<ModelBytes> {
  const file = pathFrom(cwd, path);
  const names = await readdir(file).catch(() => undefined);
  if (names !== undefined) throw usageError(`the model ${path} is ${folderText(path, names)}`);
  const reading = { ...(externalBuffers && { externalBuffers: pathsFrom(cwd, externalBuffers) }), part, onStart };
  try {
    const apart = await readModelApart(file, reading);
    if (apart !== undefined) return apart;
    const bytes = await readUserFile(path, { what: "model", cwd, onStart });
    if (externalBuffers === undefined && !hasExternalBuffers(bytes)) return { bytes };
    return { bytes, outside: await readOutside(file, bytes, reading) };
  } catch (error) {
    throw error instanceof NetworkError ? usageError(error.message.replace(file, path), error) : error;
  }
}

function pathsFrom(cwd: string, files: ExternalBuffers): ExternalBuffers {
  return Object.fromEntries(Object.entries(files).map(([name, path]) => [name, pathFrom(cwd, path)]));
}

/** Most models that a message names. */
const MOST_NAMES = 5;

/** Describes a folder that was given as a model. */
function folderText(path: string, names: readonly string[]): string {
  if (names.includes("saved_model.pb")) return "TensorFlow's SavedModel, a folder; convert it to .tflite";
  const models = names.filter((name) => /\.(tflite|lite)$/i.test(name)).sort();
  const listed = models.slice(0, MOST_NAMES).map((name) => plain(join(path, name)));
  const rest = models.length - listed.length;
  if (models.length === 0) return "a folder, not a regular file";
  return `a folder; in it: ${listed.join(", ")}${rest > 0 ? `, and ${rest} more` : ""}`;
}

/** `content`: the tables of the file if they were read before. */
function inspectBytes(
  path: string,
  bytes: Uint8Array,
  options: ImportOptions,
  content?: ModelFile["content"],
): InspectedFile {
  try {
    return {
      path,
      bytes,
      importing: options,
      inspection: inspectTflite(content ?? bytes, { ...options, validate: rulesOf(options) }),
    };
  } catch (error) {
    if (!(error instanceof TfliteError)) throw error;
    const reason = whyNoModel(bytes) ?? oneLine(error.message);
    throw usageError(`the model ${basename(path)} cannot be used: ${reason}`, error);
  }
}

/** The rules that the runtime and the device behind it check. */
function rulesOf({ customOperators = [] }: ImportOptions): NonNullable<InspectionOptions["validate"]> {
  return (model) => modelIssues(model, { mode: "runtime", extensions: customOperators });
}

/** The model of a file; undefined if it has problems. Throws a failure for a model that is too large. */
export function modelOfFile({ inspection: { imported, model }, ...file }: InspectedFile): LoadedModel | undefined {
  return imported && load({ ...file, content: model }, imported);
}

function load(file: Omit<InspectedFile, "inspection"> & ModelFile, imported: ImportedModel): LoadedModel {
  const { path } = file;
  for (const tensor of [...imported.inputs, ...imported.outputs]) {
    if (byteSize(tensor) > MOST_TENSOR_BYTES) {
      throw failure(`the model ${basename(path)} cannot be used: ${tensorText(tensor)} takes more than 2 GiB`);
    }
  }
  const stateInputs = new Set(imported.states.map(({ input }) => input));
  const stateOutputs = new Set(imported.states.flatMap(({ output }) => output ?? []));
  return {
    ...imported,
    ...file,
    givenInputs: placesOutside(imported.inputs, stateInputs),
    wantedOutputs: placesOutside(imported.outputs, stateOutputs),
  };
}

function placesOutside(tensors: readonly TensorDescription[], excluded: ReadonlySet<number>): number[] {
  return [...tensors.keys()].filter((place) => !excluded.has(place));
}
