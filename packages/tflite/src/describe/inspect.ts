/**
 * Contents of a file, and the outcome of each operator, whether or not the file can be imported.
 */
import { sourceArgument, type TfliteBytes } from "../arguments.ts";
import { describeValue, ensure, MOST_PROBLEMS, quote, TfliteError, type TfliteProblem } from "../error.ts";
import { attemptImport } from "../import/import.ts";
import type { ImportedModel } from "../import/imported-model.ts";
import { operatorWhere } from "../import/lowering/place.ts";
import type { ImportOptions } from "../import/options.ts";
import type { OperatorReport } from "../import/reports.ts";
import type { TfliteModel } from "../model.ts";
import { readTflite } from "../read.ts";
import { type BrokenRule, blockOperators, problemsOfRules } from "./broken-rules.ts";
import { type ModelMetadata, modelMetadata } from "./model-metadata.ts";
import { multiplyAdds } from "./multiply-adds.ts";
import { type PackedFile, packedFiles } from "./packed-files.ts";

/** Options of an inspection. */
export interface InspectionOptions extends ImportOptions {
  /**
   * Returns the rules of the HAL that the imported model breaks: `modelIssues` of `@nnhal/validation`, in the mode `runtime`. Each becomes
   * a problem at its operator, and a model that breaks one counts as not imported. Default: the model is not validated.
   */
  readonly validate?: (model: ImportedModel["model"]) => readonly BrokenRule[];
}

/** A file, and what becomes of it. */
export interface TfliteInspection {
  /** The file as it was read. */
  readonly model: TfliteModel;
  /** The HAL model; undefined if there are problems, those that `validate` found included. */
  readonly imported: ImportedModel | undefined;
  /** One for each operator of the file, by subgraph. */
  readonly operators: readonly OperatorReport[];
  /** All reasons why the file cannot be imported, at most 100. */
  readonly problems: readonly TfliteProblem[];
  /** Number of problems, including those that `problems` leaves out. */
  readonly problemCount: number;
  /** Constants of the file; one that several tensors share counts once. */
  readonly constants: { readonly count: number; readonly bytes: number };
  /** Multiply-adds of one execution of the imported subgraph's operators, with the shapes that the file stores, or those that follow from chosen ones. */
  readonly multiplyAdds: number;
  /** Description of the model by its maker; undefined if there is none, or if it is broken. */
  readonly metadata: ModelMetadata | undefined;
  /** Files that are packed with the model. */
  readonly packedFiles: readonly PackedFile[];
  /** Faults of the metadata or the packed files. They do not prevent the import. */
  readonly notes: readonly string[];
}

/**
 * Reads a file and tries to import it. A file that cannot be imported is described all the same.
 *
 * @throws TfliteError if the file cannot be read, or for wrong options.
 */
export function inspectTflite(
  source: TfliteBytes | TfliteModel,
  { validate, ...options }: InspectionOptions = {},
): TfliteInspection {
  const given = sourceArgument(source, "inspectTflite");
  const file = given instanceof Uint8Array ? given : undefined;
  const model = given instanceof Uint8Array ? readTflite(given, options) : given;
  ensure(
    validate === undefined || typeof validate === "function",
    "options.validate",
    () => `expected a function, got ${describeValue(validate)}`,
  );
  const { imported, operators, problems, usedShape } = attemptImport(model, file, options);
  const notes: string[] = [];
  const note = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch (failure) {
      if (!(failure instanceof TfliteError)) throw failure;
      notes.push(failure.message);
      return undefined;
    }
  };
  const index = model.signatures.find(({ key }) => key === options.signature)?.subgraph ?? 0;
  const main = model.subgraphs[index];
  const broken =
    imported && validate
      ? problemsOfRules({ quoted: quote, operatorWhere }, validate(imported.model), imported, model, options)
      : [];
  return {
    model,
    imported: broken.length === 0 ? imported : undefined,
    operators: blockOperators(operators, broken),
    problems: problems.error()?.problems ?? broken.slice(0, MOST_PROBLEMS),
    problemCount: problems.count + broken.length,
    constants: constantsOf(model),
    multiplyAdds: main === undefined ? 0 : total(main.operators, (operator) => multiplyAdds(main, operator, usedShape)),
    metadata: note(() => modelMetadata(model)),
    packedFiles: (file && note(() => packedFiles(file))) ?? [],
    notes,
  };
}

function total<Item>(items: readonly Item[], countOf: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + countOf(item), 0);
}

function constantsOf({ subgraphs }: TfliteModel): TfliteInspection["constants"] {
  const known = new Map<ArrayBufferLike, Set<string>>();
  let count = 0;
  let bytes = 0;
  for (const { data } of subgraphs.flatMap(({ tensors }) => tensors)) {
    if (data === undefined) continue;
    const ranges = known.get(data.buffer) ?? new Set<string>();
    known.set(data.buffer, ranges);
    const range = `${data.byteOffset}+${data.length}`;
    if (ranges.has(range)) continue;
    ranges.add(range);
    count++;
    bytes += data.length;
  }
  return { count, bytes };
}
