/**
 * Messages about a file whose model cannot run.
 */
import { basename } from "node:path";
import type { TfliteInspection, TfliteProblem } from "@nnhal/tflite";
import { type CommandError, failure } from "../failure.ts";
import { formatCount, oneLine, plain } from "../text.ts";

/** Most lines of problems. */
const MOST_LINES = 20;
/** Most operators that a line names. */
const MOST_PLACES = 8;

/** Problems that are alike: operators of one kind, with one reason. */
type Alike = [TfliteProblem, ...TfliteProblem[]];

/** The failure of a command that needs a model that runs: all that stands in the way, in one line for each kind of problem. */
export function blockedFailure(
  path: string,
  { problems, problemCount }: Pick<TfliteInspection, "problems" | "problemCount">,
): CommandError {
  const kinds = kindsOf(problems);
  const shown = kinds.length > MOST_LINES ? kinds.slice(0, MOST_LINES - 1) : kinds;
  const untold = problemCount - shown.reduce((sum, { length }) => sum + length, 0);
  const what = `the model ${basename(path)} cannot be used: `;
  if (problemCount === 1) return failure(what + shown.map(lineOf).join(""));
  const lines = [...shown.map(lineOf), ...(untold > 0 ? [`and ${untold} more`] : [])];
  const where = `nnhal info ${plain(path)} shows each in its place`;
  return failure([what + formatCount(problemCount, "problem"), ...lines.map((line) => `  ${line}`), where].join("\n"));
}

/** The problems in the order of the first of each kind. */
function kindsOf(problems: readonly TfliteProblem[]): Alike[] {
  const kinds = new Map<string, Alike>();
  for (const problem of problems) {
    const { operator, message, help } = problem;
    const { name, customCode, version } = operator ?? {};
    const key = JSON.stringify(operator ? [name, customCode, version, message, help] : [problem.path, message, help]);
    const same = kinds.get(key);
    if (same === undefined) kinds.set(key, [problem]);
    else same.push(problem);
  }
  return [...kinds.values()];
}

function lineOf(alike: Alike): string {
  const [{ path, message, help, operator }] = alike;
  const place = alike.length === 1 || operator === undefined ? path : placesOf(alike);
  return oneLine([place === "" ? message : `${place}: ${message}`, ...(help === undefined ? [] : [help])].join("; "));
}

/** The operators of problems that are alike. */
function placesOf(alike: Alike): string {
  const [{ operator: { name = "", customCode, version = 1 } = {} }] = alike;
  const places = alike.flatMap(({ operator }) =>
    operator === undefined
      ? []
      : [operator.subgraph === 0 ? `${operator.index}` : `${operator.subgraph}/${operator.index}`],
  );
  const listed = places.slice(0, MOST_PLACES).join(", ") + (places.length > MOST_PLACES ? ", …" : "");
  const label = customCode === undefined ? name : `${name} ${plain(customCode)}`;
  return `${alike.length} x ${label} version ${version} (operators ${listed})`;
}
