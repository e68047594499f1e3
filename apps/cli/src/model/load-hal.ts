/**
 * Loads a HAL model from a file of the user: .tflite, or one conformance example as JSON.
 */
import { modelOf, parseExample, VectorFormatError } from "@nnhal/conformance";
import { importTflite, TfliteError, type TfliteIssue, tfliteIssues } from "@nnhal/tflite";
import type { Model } from "@nnhal/types";
import { usageError } from "../failure.ts";
import { readUserFile } from "../files.ts";
import { oneLine } from "../text.ts";

/** A file that cannot become a HAL model because of indexes that are out of range. */
export interface BrokenFile {
  /** Never empty. */
  readonly issues: readonly TfliteIssue[];
}

/** Loads a model. Rejects with a usage error if there is no file, or if it holds no model for the HAL. */
export async function loadHalModel(path: string, cwd: string): Promise<Model> {
  return load(path, cwd, (bytes) => importTflite(bytes).model, {});
}

/**
 * Loads a model to validate it: indexes may be out of range. Those of an example stay in the model, those of a .tflite file
 * are returned. Rejects as `loadHalModel` does for anything else.
 */
export async function loadToValidate(path: string, cwd: string): Promise<Model | BrokenFile> {
  const read = (bytes: Uint8Array) => {
    const issues = tfliteIssues(bytes);
    return issues.length > 0 ? { issues } : importTflite(bytes).model;
  };
  return load(path, cwd, read, { forValidation: true });
}

async function load<Result>(
  path: string,
  cwd: string,
  readFile: (bytes: Uint8Array) => Result,
  options: Parameters<typeof parseExample>[1],
): Promise<Model | Result> {
  const bytes = await readUserFile(path, { what: "model", cwd });
  const isJson = bytes.find((byte) => !isSpace(byte)) === "{".charCodeAt(0);
  try {
    return isJson ? exampleModel(bytes, options) : readFile(bytes);
  } catch (error) {
    if (!(error instanceof TfliteError) && !(error instanceof VectorFormatError)) throw error;
    const what = isJson ? "conformance example" : "model";
    throw usageError(`the ${what} ${path} cannot be used: ${oneLine(error.message)}`, error);
  }
}

function exampleModel(bytes: Uint8Array, options: Parameters<typeof parseExample>[1]): Model {
  const example = parseExample(new TextDecoder().decode(bytes), options);
  return modelOf({ name: example.name, example, unspecifiedOutputs: false });
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}
