/**
 * The one error of this package: what is wrong with a file, or why its model cannot be imported, with the places.
 */

/** The operator that a problem is about. */
export interface ProblemOperator {
  /** The index of its subgraph. */
  readonly subgraph: number;
  /** Its place in the subgraph. */
  readonly index: number;
  readonly name: string;
  /** The name of a custom operator, or of a composite. */
  readonly customCode?: string;
  readonly version: number;
}

/** The tensor that a problem is about. */
export interface ProblemTensor {
  /** The index of its subgraph. */
  readonly subgraph: number;
  /** Its place in the subgraph. */
  readonly index: number;
  /** May be empty. */
  readonly name: string;
}

/** One defect of a file, or one reason why its model cannot be imported. */
export interface TfliteProblem {
  /** The place in the model, such as `subgraphs[0].operators[3] (ADD version 2)`; empty for the file as a whole. */
  readonly path: string;
  /** The broken rule, with the actual value. */
  readonly message: string;
  /** Absent if the problem is not about an operator. */
  readonly operator?: ProblemOperator;
  /** Absent if the problem is not about a single tensor. */
  readonly tensor?: ProblemTensor;
  /** Remedy; absent if nothing is known to help. */
  readonly help?: string;
}

/** Most problems that one error lists. */
export const MOST_PROBLEMS = 100;

/** Most problems that the message of an error shows. */
const MOST_SHOWN = 3;

/** A problem as a line: place and rule. */
export function problemText({ path, message }: TfliteProblem): string {
  return path === "" ? message : `${path}: ${message}`;
}

function messageOf(problems: readonly TfliteProblem[], count: number): string {
  const [first] = problems;
  if (count === 1 && first !== undefined) return problemText(first);
  const shown = problems.slice(0, MOST_SHOWN).map(problemText);
  return `${count} problems: ${shown.join("; ")}${count > shown.length ? `; and ${count - shown.length} more` : ""}`;
}

/**
 * The defects of a file, or the reasons why its model cannot be imported. The message shows the first ones, and how many there
 * are.
 */
export class TfliteError extends Error {
  override readonly name = "TfliteError";
  /** The place of the first problem; empty for the file as a whole. */
  readonly path: string;
  /** Never empty, and at most 100. */
  readonly problems: readonly TfliteProblem[];
  /** Number of problems, including those that `problems` leaves out. */
  readonly problemCount: number;

  /** `problems` must not be empty. */
  constructor(problems: readonly TfliteProblem[], count = problems.length) {
    super(messageOf(problems, count));
    this.path = problems[0]?.path ?? "";
    this.problems = problems.slice(0, MOST_PROBLEMS);
    this.problemCount = count;
  }
}

/** A path in the model, with the operator or tensor there. */
export type Where = Pick<TfliteProblem, "path" | "operator" | "tensor">;

/** Subject of a problem: a path in the model, or a function that describes the location if it is needed. */
export type Place = string | (() => Where);

/** Throws a TfliteError with one problem. `message` names the rule and the actual value; `help`: what a user can do. */
export function fail(place: Place, message: string, help?: string): never {
  const where = typeof place === "string" ? { path: place } : place();
  throw new TfliteError([{ ...where, message, ...(help !== undefined && { help }) }]);
}

/** The result of `work`, or the TfliteError with which it refuses what it is given. */
export type Outcome<T> = { readonly result: T } | { readonly refused: TfliteError };

/** Runs `work`, and returns its outcome. Throws any other error than a TfliteError. */
export function outcomeOf<T>(work: () => T): Outcome<T> {
  try {
    return { result: work() };
  } catch (error) {
    if (!(error instanceof TfliteError)) throw error;
    return { refused: error };
  }
}

/** Most characters of a name, and most numbers of a list, that a message shows. */
const MOST_NAME = 80;
const MOST_LISTED = 16;

/** A name of the file in a message: quoted, and cut if it is very long. */
export function quote(name: string): string {
  return JSON.stringify(name.length > MOST_NAME ? `${name.slice(0, MOST_NAME)}…` : name);
}

/** A list of the file in a message: `[1, 2, 3]`, and cut if it is very long. */
export function listText(values: readonly number[]): string {
  const rest = values.length > MOST_LISTED ? `, … (${values.length})` : "";
  return `[${values.slice(0, MOST_LISTED).join(", ")}${rest}]`;
}

/** The kind of a value, for a message: `a string`, `an array`, `the number 3`. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "string") return "a string";
  if (typeof value === "function") return "a function";
  if (typeof value !== "object") return `the ${typeof value} ${String(value)}`;
  if (Array.isArray(value)) return "an array";
  return value instanceof Promise ? "a Promise" : "an object";
}

/** Throws a TfliteError unless the condition holds. */
export function ensure(condition: boolean, place: Place, problem: () => string, help?: string): asserts condition {
  if (!condition) fail(place, problem(), help);
}
