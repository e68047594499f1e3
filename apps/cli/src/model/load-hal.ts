/**
 * Loads a HAL model from a file of the user: .tflite, or one conformance example as JSON.
 */

import type { parseExample } from "@nnhal/conformance";
import type { ModelBytes } from "@nnhal/network/session";
import { whyNoModel } from "@nnhal/network/tensors";
import {
  type ImportedModel,
  type ImportOptions,
  inspectTflite,
  TfliteError,
  type TfliteInspection,
  type TfliteProblem,
  tfliteIssues,
} from "@nnhal/tflite";
import type { Model } from "@nnhal/types";
import { loadPackage, usageError } from "../failure.ts";
import { MOST_NAME } from "../info-report.ts";
import type { ExternalBuffers, LoadOptions } from "../option-values.ts";
import { oneLine } from "../text.ts";
import { isTflite, readModel } from "./load.ts";

/** A .tflite file that cannot become a HAL model. */
export interface BlockedFile {
  /** Indexes that are out of range, or all reasons why the HAL cannot express the model. Never empty. */
  readonly problems: readonly TfliteProblem[];
  /** The file and what becomes of its operators; undefined if indexes are out of range. */
  readonly inspection: TfliteInspection | undefined;
}

/** The names of a model's operands, where they are known, cut to a length that can be shown. */
export interface ShownNames {
  /** Of the main subgraph. */
  readonly operandNames: readonly (string | undefined)[];
  /** Of each referenced subgraph. */
  readonly referencedNames: readonly (readonly (string | undefined)[])[];
}

/** A model that was loaded. */
export interface HalModel extends ShownNames {
  readonly model: Model;
}

/** Options of `loadHalModel`. */
export interface HalModelOptions
  extends Pick<
    LoadOptions,
    "customOperators" | "halVersion" | "signature" | "inputShapes" | "externalBuffers" | "part"
  > {
  /** True if an example is loaded even if its indexes are out of range. Default: no. */
  readonly forValidation?: boolean;
}

/**
 * Loads a model that need not be able to run. Rejects with a usage error if there is no file, or if it is not a model.
 */
export async function loadHalModel(
  path: string,
  cwd: string,
  { forValidation = false, externalBuffers, part, ...importing }: HalModelOptions = {},
): Promise<HalModel | BlockedFile> {
  const { signature, inputShapes } = importing;
  const isChosen = [signature, inputShapes, externalBuffers].some((option) => option !== undefined);
  const readFile = ({ bytes, part: _, ...outside }: ModelBytes) => halModel(bytes, { ...importing, ...outside });
  return load(path, cwd, readFile, { forValidation, isChosen, externalBuffers, part });
}

function halModel(bytes: Uint8Array, options: ImportOptions): HalModel | BlockedFile {
  let inspection: TfliteInspection;
  try {
    inspection = inspectTflite(bytes, options);
  } catch (error) {
    // A file with indexes that are out of range cannot be read. All of them are listed, not only the first.
    const issues = error instanceof TfliteError ? tfliteIssues(bytes, undefined, options) : [];
    if (issues.length === 0) throw error;
    return { problems: issues, inspection: undefined };
  }
  const { imported, problems } = inspection;
  if (imported === undefined) return { problems, inspection };
  return { model: imported.model, ...shownNames(imported) };
}

/** The names of a model's operands. */
export function shownNames({
  operandNames,
  referenced,
}: Pick<ImportedModel, "operandNames" | "referenced">): ShownNames {
  const show = (names: ShownNames["operandNames"]) => names.map((name) => name?.slice(0, MOST_NAME));
  return {
    operandNames: show(operandNames),
    referencedNames: referenced.map((each) => show(each.operandNames)),
  };
}

/** Options of reading an example. */
type ExampleOptions = Parameters<typeof parseExample>[1] & {
  /** True if a part of a .tflite file was asked for. */
  readonly isChosen: boolean;
  readonly externalBuffers: ExternalBuffers | undefined;
  readonly part: string | undefined;
};

async function load<Result>(
  path: string,
  cwd: string,
  readFile: (file: ModelBytes) => Result,
  { isChosen, externalBuffers, part, ...options }: ExampleOptions,
): Promise<HalModel | Result> {
  const onStart = (start: Uint8Array) => {
    if (isJson(start) && isChosen)
      throw usageError(
        `--signature, --input-shape and --external-buffer are about .tflite files; ${path} is a conformance example`,
      );
    // It may begin with spaces only.
    if (isTflite(start) || isJson(start) || start.every(isSpace)) return;
    readOrRefuse(path, start, () => tfliteIssues(start));
  };
  const file = await readModel(path, cwd, { externalBuffers, part, onStart });
  const { bytes } = file;
  if (isJson(bytes)) return { model: await exampleModel(path, bytes, options), operandNames: [], referencedNames: [] };
  return readOrRefuse(path, bytes, () => readFile(file));
}

/** Reads a model. Throws a usage error for bytes that are not one. */
function readOrRefuse<Result>(path: string, bytes: Uint8Array, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw error instanceof TfliteError ? cannotBeUsed("model", path, error, whyNoModel(bytes)) : error;
  }
}

async function exampleModel(
  path: string,
  bytes: Uint8Array,
  options: Parameters<typeof parseExample>[1],
): Promise<Model> {
  const kit = await loadPackage(["@nnhal/conformance"], "a conformance example", () => import("@nnhal/conformance"));
  try {
    const example = kit.parseExample(new TextDecoder().decode(bytes), options);
    return kit.modelOf({ name: example.name, example, unspecifiedOutputs: false });
  } catch (error) {
    throw error instanceof kit.VectorFormatError ? cannotBeUsed("conformance example", path, error) : error;
  }
}

function cannotBeUsed(what: string, path: string, error: Error, reason = oneLine(error.message)): Error {
  return usageError(`the ${what} ${path} cannot be used: ${reason}`, error);
}

function isJson(bytes: Uint8Array): boolean {
  return bytes.find((byte) => !isSpace(byte)) === "{".charCodeAt(0);
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}
