/** A network of the suites crash and accuracy. */
import { readFileSync } from "node:fs";
import { type ImportedModel, importTflite } from "@nnhal/tflite";

/** Reads a .tflite file. Throws an Error with the path and the reason if it cannot be read, or has something that the HAL lacks. */
export function readNetwork(path: string): ImportedModel {
  try {
    return importTflite(readFileSync(path));
  } catch (error) {
    throw new Error(`cannot read the network ${path}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
