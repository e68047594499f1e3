/**
 * Rules of the HAL that an imported model breaks, as problems of the file's operators.
 */
import type { Model } from "@nnhal/types";
import type { TfliteProblem } from "../error.ts";
import type { ImportedModel } from "../import/import.ts";
import { operatorWhere } from "../import/lowering/place.ts";
import type { OperatorReport } from "../import/reports.ts";
import type { TfliteSubgraph } from "../model.ts";

/** A rule that a HAL model breaks. */
export interface BrokenRule {
  /** The place in the HAL model, such as `main.operations[3]`. */
  readonly path: string;
  /** The rule in words, with the actual value. */
  readonly message: string;
}

/** The operation of the main subgraph that a path names, or the one that has its operand: as a result, else as an input. */
function operationOf({ operations }: Model["main"], path: string): number {
  const [, list, digits = ""] = /^main\.(operations|operands)\[(\d+)\]/.exec(path) ?? [];
  if (list === undefined) return -1;
  const place = Number(digits);
  if (list === "operations") return place;
  const writer = operations.findIndex(({ outputs }) => outputs.includes(place));
  return writer >= 0 ? writer : operations.findIndex(({ inputs }) => inputs.includes(place));
}

/** The problem of each rule that is broken: at the operator that it follows from, if that is in the imported subgraph. */
export function problemsOf(
  rules: readonly BrokenRule[],
  { model, operators }: Pick<ImportedModel, "model" | "operators">,
  subgraph: TfliteSubgraph,
  index: number,
): TfliteProblem[] {
  return rules.map(({ path, message }): TfliteProblem => {
    const operation = operationOf(model.main, path);
    const place = operators[operation]?.index ?? -1;
    const operator = subgraph.operators[place];
    const text = `the HAL model that it becomes is not valid: ${path}: ${message}`;
    if (operator === undefined) return { path: `subgraphs[${index}]`, message: text };
    return { ...operatorWhere({ path: `subgraphs[${index}]`, index }, operator, place), message: text };
  });
}

/** The reports of operators, of which those with a problem are blocked. */
export function blockOperators(
  reports: readonly OperatorReport[],
  problems: readonly TfliteProblem[],
): readonly OperatorReport[] {
  return reports.map((report): OperatorReport => {
    const problem = problems.find(
      ({ operator }) => operator?.subgraph === report.subgraph && operator.index === report.index,
    );
    return problem === undefined ? report : { ...report, status: "blocked", operations: [], reason: problem.message };
  });
}
