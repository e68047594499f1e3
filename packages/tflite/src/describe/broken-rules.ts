/**
 * Rules of the HAL that an imported model breaks, as problems of the file's operators. It imports nothing: what it imported would be in a bundle
 * for a browser as a part of its own.
 */
import type { Model } from "@nnhal/types";
import type { quote, TfliteProblem } from "../error.ts";
import type { ImportedModel } from "../import/imported-model.ts";
import type { operatorWhere } from "../import/lowering/place.ts";
import type { ImportOptions } from "../import/options.ts";
import type { OperatorReport } from "../import/reports.ts";
import type { TfliteModel } from "../model.ts";

/** A rule that a HAL model breaks. */
export interface BrokenRule {
  /** The place in the HAL model, such as `main.operations[3]`. */
  readonly path: string;
  /** The rule in words, with the actual value. */
  readonly message: string;
}

/** The operation of a subgraph that a path within it names, or the one that has its operand: as a result, else as an input. */
function operationOf({ operations }: Model["main"], path: string): number {
  const [, list, digits = ""] = /^(operations|operands)\[(\d+)\]/.exec(path) ?? [];
  if (list === undefined) return -1;
  const place = Number(digits);
  if (list === "operations") return place;
  const writer = operations.findIndex(({ outputs }) => outputs.includes(place));
  return writer >= 0 ? writer : operations.findIndex(({ inputs }) => inputs.includes(place));
}

/** Functions that messages are made with. */
export interface Naming {
  readonly quoted: typeof quote;
  readonly operatorWhere: typeof operatorWhere;
}

/** A place within an operation, and a message about it, with the names of tensors instead of places of operands. */
function textOf({ path, message }: BrokenRule, names: readonly (string | undefined)[], { quoted }: Naming): string {
  const nameOf = (found: string, place: string) => {
    const name = names[Number(place)];
    return name ? quoted(name) : found;
  };
  const within = path.replace(/^operations\[\d+\]\.?/, "").replace(/^operands\[(\d+)\]/, nameOf);
  const text = message.replaceAll(/\boperand (\d+)\b/g, nameOf);
  return within === "" ? text : `${within}: ${text}`;
}

/** See problems-of.ts. */
export function problemsOf(
  naming: Naming,
  places: readonly BrokenRule[],
  { model, referenced, ...main }: Pick<ImportedModel, "model" | "operators" | "operandNames" | "referenced">,
  { subgraphs, signatures }: TfliteModel,
  { signature }: Pick<ImportOptions, "signature"> = {},
): TfliteProblem[] {
  const index = signatures.find(({ key }) => key === signature)?.subgraph ?? 0;
  return places.map((given): TfliteProblem => {
    const [, called, path = given.path] = /^(?:main|referenced\[(\d+)\])\.(.*)$/s.exec(given.path) ?? [];
    const other = called === undefined ? undefined : referenced[Number(called)];
    const { subgraph = index, operators, operandNames } = other ?? { ...main, subgraph: index };
    const within = called === undefined ? model.main : model.referenced[Number(called)];
    const at = { path: `subgraphs[${subgraph}]`, index: subgraph };
    const place = (within && operators[operationOf(within, path)]?.index) ?? -1;
    const operator = subgraphs[subgraph]?.operators[place];
    if (operator === undefined) return { path: at.path, message: `${given.path}: ${given.message}` };
    const where = naming.operatorWhere(at, operator, place);
    return { ...where, message: textOf({ ...given, path }, operandNames, naming) };
  });
}

/** The problems of rules that the HAL model of a file breaks. */
export function problemsOfRules(...given: Parameters<typeof problemsOf>): TfliteProblem[] {
  return problemsOf(...given).map(({ message, ...problem }) => ({
    ...problem,
    message: `the HAL model that it becomes is not valid: ${message}`,
  }));
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
