/**
 * Outcome of each operator of a file: for users, also if the file cannot be imported.
 */
import type { Operation } from "@nnhal/operations";
import { type ProblemOperator, problemText } from "../error.ts";
import type { TfliteSubgraph } from "../model.ts";
import type { Graph } from "./graph.ts";
import { problemOperator } from "./lowering/place.ts";
import type { ProblemList } from "./problems.ts";

/**
 * Outcome of an operator. `hal`: HAL operations. `extension`: operations of which at least one is of the extension. `constant`: a
 * constant, computed by the import. `state`: an input or output of the model, or the first value of one. `unused`: nothing, as no output
 * depends on it. `blocked`: it prevents the import.
 */
export type OperatorStatus = "hal" | "extension" | "constant" | "state" | "unused" | "blocked";

/** An operator of a file, and what becomes of it. */
export interface OperatorReport extends ProblemOperator {
  readonly status: OperatorStatus;
  /** The names of the operations that it becomes, in order; empty unless the status is `hal` or `extension`. */
  readonly operations: readonly string[];
  /** Why it is blocked. */
  readonly reason?: string;
}

/** Outcomes of the operators of a subgraph so far. */
export interface Progress {
  readonly graph: Graph;
  /** The operators that are used; places are those in the file. */
  readonly used: ReadonlySet<number>;
  /** Why operators are blocked, by their place in the file. */
  readonly blocked: ReadonlyMap<number, string>;
  readonly carried: ReadonlySet<number>;
}

/** Why an operator is blocked: its own problem, or that of a subgraph that it runs. */
export function reasonOf(
  problem: ReturnType<ProblemList["add"]> & object,
  place: { readonly index: number },
  operator: number,
): string {
  const { operator: at, message } = problem;
  const isOwn = at?.subgraph === place.index && at.index === operator;
  return isOwn ? message : `runs a subgraph that cannot be imported: ${problemText(problem)}`;
}

/** The reports of the operators of a subgraph, each of whose imports has made its own progress. */
export function reportsOf(subgraph: TfliteSubgraph, index: number, progress: readonly Progress[]): OperatorReport[] {
  const operations = new Map<number, Operation[]>();
  for (const { operation, origin } of progress.flatMap(({ graph }) => graph.listEmitted())) {
    const list = operations.get(origin);
    if (list === undefined) operations.set(origin, [operation]);
    else list.push(operation);
  }
  return subgraph.operators.map((operator, place): OperatorReport => {
    const facts = problemOperator(operator, place, index);
    const reason = progress.flatMap(({ blocked }) => blocked.get(place) ?? [])[0];
    if (reason !== undefined) return { ...facts, status: "blocked", operations: [], reason };
    const made = operations.get(place) ?? [];
    if (made.length === 0 && progress.some(({ carried }) => carried.has(place))) {
      return { ...facts, status: "state", operations: [] };
    }
    if (!progress.some(({ used }) => used.has(place))) return { ...facts, status: "unused", operations: [] };
    const isExtended = made.some(({ extension }) => extension !== undefined);
    const status = made.length === 0 ? "constant" : isExtended ? "extension" : "hal";
    return { ...facts, status, operations: made.map(({ name }) => name) };
  });
}
