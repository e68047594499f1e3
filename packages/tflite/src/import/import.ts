/**
 * Turns a .tflite model into a HAL model.
 */
import { ensureLoaded } from "@nnhal/operations";
import { OperationType } from "@nnhal/types";
import { sourceArgument, type TfliteBytes } from "../arguments.ts";
import type { TfliteModel } from "../model.ts";
import { readTflite } from "../read.ts";
import { createConstants } from "./constants.ts";
import { createDialect } from "./dialect.ts";
import { entryOf } from "./entry.ts";
import { expanding } from "./expanding.ts";
import { type ImportedModel, importedModel } from "./imported-model.ts";
import { createImporter } from "./importer.ts";
import { checkOptions, type ImportOptions } from "./options.ts";
import { createProblemList, type ProblemList } from "./problems.ts";
import type { OperatorReport } from "./reports.ts";
import { rowOf } from "./rows.ts";
import { chosenShapes } from "./shapes.ts";
import { plainProgram, programOf } from "./state/program.ts";
import { strings } from "./string-models.ts";

/** Outcome of importing a model. */
export interface ImportAttempt {
  /** Undefined if there are problems. */
  readonly imported: ImportedModel | undefined;
  readonly operators: readonly OperatorReport[];
  readonly problems: ProblemList;
  /** The extents of the entry's tensors if the caller chose shapes; undefined for one that has no operand. Absent if there are problems. */
  readonly usedShape?: (tensor: number) => readonly number[] | undefined;
}

/** Imports a model as far as possible. Throws a TfliteError for a file that is broken, or for wrong options. */
export function attemptImport(given: TfliteModel, file: Uint8Array | undefined, options: ImportOptions): ImportAttempt {
  const { extensions, hybrid, halVersion, customOperators, signature, emptyInputs } = checkOptions(options);
  const found = entryOf(given, signature);
  const { model, entry } =
    emptyInputs === undefined ? { model: given, entry: found } : expanding().emptyEntry(given, found, emptyInputs);
  const chosen = chosenShapes(entry.subgraph, entry.inputNames, options);
  ensureLoaded(operationsOf(model));
  const problems = createProblemList();
  const constants = createConstants(model, file);
  const dialect = createDialect({
    hasExtension: extensions,
    quantisesInputs: hybrid === "quantised",
    halVersion,
    custom: customOperators,
  });
  const threaded = problems.attempt(() => programOf(model, entry.subgraph, entry.index));
  const isConverted = extensions && hasStrings(model);
  const program = threaded && isConverted ? strings().withStrings(threaded) : threaded;
  const shaping = { ...options, chosen };
  const importer = createImporter(model, program ?? plainProgram(model, entry), constants, shaping, dialect, problems);
  const finished = problems.attempt(() => importer.importMain());
  const imported =
    program && finished && problems.count === 0
      ? problems.attempt(() => importedModel(model, entry, program, finished, importer.referenced, constants, dialect))
      : undefined;
  const usedShape = chosen.size > 0 ? imported && finished?.graph.usedShape : undefined;
  return { imported, operators: importer.reports(), problems, ...(usedShape && { usedShape }) };
}

/** True if a model has strings. */
function hasStrings({ subgraphs }: TfliteModel): boolean {
  return subgraphs.some(({ tensors }) => tensors.some(({ type }) => type === "STRING"));
}

/** The codes of the HAL's operations that the operators of a model may become. */
function operationsOf({ subgraphs }: TfliteModel): readonly number[] {
  const rows = new Set(subgraphs.flatMap(({ operators }) => operators.map(rowOf)));
  return [...rows].flatMap((row) => row?.operations ?? []).map((name) => OperationType[name]);
}

/**
 * Turns a .tflite model into a HAL model. Constants of the file are not copied: they are operands in one pool, which is the
 * memory that `source` lies in, and which must not change while the model is in use.
 *
 * @throws TfliteError if the file is broken, or with all reasons why the HAL cannot express the model, each with its operator or
 * tensor.
 */
export function importTflite(source: TfliteBytes | TfliteModel, options: ImportOptions = {}): ImportedModel {
  const given = sourceArgument(source, "importTflite");
  const file = given instanceof Uint8Array ? given : undefined;
  const model = given instanceof Uint8Array ? readTflite(given, options) : given;
  const { imported, problems } = attemptImport(model, file, options);
  problems.throwIfAny();
  if (imported === undefined) throw new TypeError("an import without problems has a result");
  return imported;
}
