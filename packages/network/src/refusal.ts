/**
 * Errors about models that cannot run, in the words of the file: its operators and tensors instead of places in a model of the HAL, and what
 * a user can do. It is loaded by need, and imports nothing, as `apart.ts` says.
 */
import type { ExtensionDefinition } from "@nnhal/operations";
import type { NeuralNetworksError } from "@nnhal/runtime";
import type { ImportedModel, ImportOptions, TfliteError, TfliteModel } from "@nnhal/tflite";
import type { Tools } from "./apart-tools.ts";
import type { NetworkError } from "./error.ts";
import { nameOperations } from "./operation-names.ts";

/** Most problems that the message of an error shows. */
const MOST_SHOWN = 3;

/** A problem as a line: where, why, and what helps. */
function lineOf({ path, message, help }: TfliteError["problems"][number]): string {
  const text = path === "" ? message : `${path}: ${message}`;
  return help === undefined ? text : `${text}; ${help}`;
}

function cannotRun(
  given: readonly string[],
  count: number,
  cause: Error,
  named: string,
  { NetworkError, oneLine }: Tools,
): Error {
  const problems = given.map(oneLine);
  const shown = problems.slice(0, MOST_SHOWN);
  const rest = count > shown.length ? `; and ${count - shown.length} more` : "";
  const text = `${count === 1 ? "" : `${count} problems: `}${shown.join("; ")}${rest}`;
  return new NetworkError("CANNOT_RUN", `the model${named} cannot run: ${text}`, { cause, problems });
}

/** Errors are told by their names, without their classes. */
function isOfKind<Kind extends Error>(error: unknown, name: Kind["name"]): error is Kind {
  return error instanceof Error && error.name === name;
}

/** The NetworkError for an import that failed; any other error as it is. `named`: see OpeningSession. */
export function refusalOfImport(error: unknown, named: string, tools: Tools): unknown {
  if (!isOfKind<TfliteError>(error, "TfliteError")) return error;
  const { path, message, problems, problemCount } = error;
  if (path.startsWith("options")) return new tools.NetworkError("BAD_OPTION", tools.oneLine(message), { cause: error });
  return cannotRun(problems.map(lineOf), problemCount, error, named, tools);
}

/** The file of a model, and what was made of it. */
export interface RefusedModel {
  /** See OpeningSession. */
  readonly named: string;
  readonly content: TfliteModel;
  readonly imported: ImportedModel;
  readonly importing: ImportOptions;
  /** Extensions whose operations messages name. */
  readonly extensions: readonly ExtensionDefinition[];
}

/** The error of preparing or running a model, with the operators of its file; any other error as it is. */
export async function refusalOfModel(error: unknown, model: RefusedModel, tools: Tools): Promise<unknown> {
  if (!isOfKind<NetworkError>(error, "NetworkError")) return error;
  const { code, message, cause, problems } = error;
  if (!isOfKind<NeuralNetworksError>(cause, "NeuralNetworksError")) return error;
  const { named: file, content, imported, importing, extensions } = model;
  const named = (texts: readonly string[]) => texts.map((text) => nameOperations(text, extensions));
  if (code === "CANNOT_RUN" && cause.places.length > 0) {
    const found = await tools.problemsOf(cause.places, imported, content, importing);
    return cannotRun(named(found.map(lineOf)), found.length, cause, file, tools);
  }
  return new tools.NetworkError(code, nameOperations(message, extensions), { cause, problems: named(problems) });
}
