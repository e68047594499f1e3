/**
 * docs/operations.md: what every operation takes, written from the definitions.
 */
import {
  type Form,
  type Operation,
  operations,
  type Param,
  type RankRule,
  type TypeRow,
  typeText,
} from "@nnhal/operations";
import { type HalVersion, type OperationTypeName, operationTypes } from "@nnhal/types";

/** The whole document. */
export function operationsDocument(): string {
  const inOrder = [...operations].sort((a, b) => a.code - b.code);
  const rows = inOrder.map((operation) => {
    const anchor = operation.name.toLowerCase();
    const types = new Set(operation.forms.flatMap((form) => firstTypes(form)));
    return `| ${operation.code} | [${operation.name}](#${anchor}) | ${findVersion(operation)} | ${[...types].join(", ")} |`;
  });
  return [
    "<!-- Generated from the definitions in packages/operations/src/ops by `npm run generate`; do not edit. -->",
    "# Operations",
    "",
    `The ${inOrder.length} operations of NN HAL 1.0 – 1.3 and AIDL 1 – 4. Types are those of the first operand whose type varies; the sections below give them all.`,
    "",
    "| code | operation | since | types |",
    "|---|---|---|---|",
    ...rows,
    "",
    ...inOrder.flatMap(section),
  ].join("\n");
}

function findVersion({ name }: Operation): HalVersion {
  return isOperationName(name) ? operationTypes[name].since : "1.3";
}

function isOperationName(name: string): name is OperationTypeName {
  return name in operationTypes;
}

/** The types of a form's first operand whose type varies, else of its first, without TENSOR_ in front. */
function firstTypes({ params: [first, ...others], types }: Form): string[] {
  const operands = first === undefined ? others : [first, ...others];
  if (operands.some(({ type, any }) => type === undefined && any !== true)) {
    return types.map((row) => shortType(row[1] === undefined ? "" : typeText(row[1])));
  }
  return [first?.type === undefined ? "any" : shortType(typeText(first.type))];
}

function shortType(type: string): string {
  return type.replace(/^TENSOR_/, "");
}

function section(operation: Operation): string[] {
  const { name, summary, ranks, dynamic, forms } = operation;
  const notes = [
    ...Object.entries(ranks).map(([param, rule]) => `Rank of \`${param}\`: ${formatRank(rule)}.`),
    ...(dynamic ? ["The shapes of the outputs depend on the values of the inputs."] : []),
  ];
  return [
    `## ${name}`,
    "",
    `${summary} Since HAL ${findVersion(operation)}.`,
    "",
    ...forms.flatMap((form, index) => describeForm(form, index, forms.length)),
    ...(notes.length === 0 ? [] : [notes.join(" "), ""]),
  ];
}

function formatRank(rule: RankRule): string {
  if (typeof rule === "number") return `${rule}`;
  const [least, greatest] = rule;
  return greatest === Number.POSITIVE_INFINITY ? `${least} or more` : `${least} to ${greatest}`;
}

function describeForm({ params, outputs, types, counts, outputCounts }: Form, index: number, all: number): string[] {
  const varying = [...params, ...outputs].filter(({ type, any }) => type === undefined && any !== true);
  const legal = [
    ...(counts === undefined ? [] : [`${counts.join(", ")} inputs`]),
    ...(outputCounts === undefined ? [] : [`${outputCounts.join(", ")} outputs`]),
  ];
  return [
    ...(all === 1 ? [] : [`Form ${index + 1} of ${all}:`, ""]),
    ...params.map((param, position) => `${position}. ${describeParam(param)}`),
    "",
    `Outputs: ${outputs.map(describeParam).join("; ")}.${legal.length === 0 ? "" : ` Legal are ${legal.join(" and ")}.`}`,
    "",
    ...(varying.length === 0 ? [] : typeTable(varying, types)),
  ];
}

function describeParam({ name, kind, type, any, omittable, variadic, since, default: value }: Param): string {
  const what = any === true ? "any type" : type !== undefined ? type : kind === "tensor" ? "tensor" : "scalar";
  const marks = [
    what,
    ...(variadic === true ? [any === true ? "zero or more" : "one or more"] : []),
    ...(since !== undefined ? [`optional since ${since}`] : omittable === true ? ["may be omitted"] : []),
    ...(value === undefined ? [] : [`default ${value}`]),
  ];
  return `\`${name}\` (${marks.join(", ")})`;
}

/** A row for each combination of types; columns of the same types in every row share one. */
function typeTable(varying: readonly Param[], types: readonly TypeRow[]): string[] {
  const columns: { names: string[]; cells: string[] }[] = [];
  for (const [index, { name }] of varying.entries()) {
    const cells = types.map((row) => String(row[index + 1]));
    const same = columns.find((column) => column.cells.join() === cells.join());
    if (same === undefined) columns.push({ names: [name], cells });
    else same.names.push(name);
  }
  const heads = columns.map(({ names }) => (names.length > 4 ? `${names[0]} … ${names.at(-1)}` : names.join(", ")));
  return [
    `| since | ${heads.join(" | ")} |`,
    `|---|${columns.map(() => "---|").join("")}`,
    ...types.map((row, index) => `| ${row[0]} | ${columns.map(({ cells }) => cells[index]).join(" | ")} |`),
    "",
  ];
}
