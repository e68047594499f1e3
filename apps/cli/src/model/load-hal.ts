/**
 * Loads a HAL model from what a user names: a .tflite file, or one conformance example as JSON.
 */
import { modelOf, parseExample, VectorFormatError } from "@nnhal/conformance";
import { importTflite, TfliteError } from "@nnhal/tflite";
import type { Model } from "@nnhal/types";
import { usageError } from "../failure.ts";
import { readUserFile } from "../files.ts";
import { oneLine } from "../text.ts";

/** Loads a model. Rejects with a usage error where there is no file, or where it holds no model for the HAL. */
export async function loadHalModel(path: string, cwd: string): Promise<Model> {
  const bytes = await readUserFile(path, { what: "model", cwd });
  const isJson = bytes.find((byte) => !isSpace(byte)) === "{".charCodeAt(0);
  try {
    return isJson ? exampleModel(bytes) : importTflite(bytes).model;
  } catch (error) {
    if (!(error instanceof TfliteError) && !(error instanceof VectorFormatError)) throw error;
    const what = isJson ? "conformance example" : "model";
    throw usageError(`the ${what} ${path} cannot be used: ${oneLine(error.message)}`, error);
  }
}

function exampleModel(bytes: Uint8Array): Model {
  const example = parseExample(new TextDecoder().decode(bytes));
  return modelOf({ name: example.name, example, unspecifiedOutputs: false });
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}
