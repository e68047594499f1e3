/**
 * The explanation as text.
 */

import { basename } from "node:path";
import { elementAt } from "@nnhal/operations";
import type { OperatorReport } from "@nnhal/tflite";
import { formatProblems, outcomeText } from "../info-report.ts";
import { byteText, columns, formatCount, milliseconds, oneLine, openShapeText, plain } from "../text.ts";
import type {
  BoundaryTensor,
  ExplainedOperand,
  ExplainedOperation,
  ExplainedPlan,
  Explanation,
} from "./explanation.ts";

/** Amount of detail in a report. */
export interface ExplainReportOptions {
  /** The types, shapes, answers and reason of each operation, and the tensors between steps. Default: a table of the steps. */
  readonly verbose?: boolean | undefined;
}

/** The explanation for people. Operations, operators and steps are counted from 1. */
export function formatExplanation(explanation: Explanation, { verbose = false }: ExplainReportOptions = {}): string {
  const { fileOperators, problems = [] } = explanation;
  const body =
    fileOperators !== undefined
      ? [...formatFileOperators(fileOperators), ...formatProblems({ problems, problemCount: problems.length })]
      : verbose
        ? formatPlan(explanation)
        : formatOverview(explanation);
  return `${[...columns(formatFacts(explanation)), "", ...body].join("\n")}\n`;
}

function formatFacts(explanation: Explanation): string[][] {
  const { model, devices, policy, preference, operations, steps, predictedMs = 0, measuredMs, memory } = explanation;
  const { problem } = explanation;
  const facts: string[][] = [
    ["model", basename(model)],
    ["devices", devices.join(", ")],
    ["HAL", halText(explanation)],
    ["policy", `${policy}, ${preference}`],
  ];
  if (problem === undefined) {
    const measured = measuredMs === undefined ? "" : `, measured ${milliseconds(measuredMs)}`;
    const size = `${formatCount(operations.length, "operation")} in ${formatCount(steps.length, "step")}`;
    facts.push(["plan", `${size}, predicted ${milliseconds(predictedMs)}${measured}`]);
  } else facts.push(["plan", `none: ${oneLine(problem)}`]);
  if (memory !== undefined) {
    facts.push([
      "memory",
      memory.peak === 0
        ? "nothing between steps"
        : `${byteText(memory.peak)} between steps; no layout takes less than ${byteText(memory.lowerBound)}`,
    ]);
  }
  return facts;
}

/** The version that a model needs, and those of the devices. */
function halText({ minimumVersion, halVersions }: Explanation): string {
  const byVersion = new Map<string, string[]>();
  for (const [device, version] of Object.entries(halVersions)) {
    byVersion.set(version, [...(byVersion.get(version) ?? []), device]);
  }
  const [only, ...others] = byVersion.keys();
  const devices =
    others.length === 0
      ? only
      : [...byVersion].map(([version, names]) => `${version} (${names.join(", ")})`).join(", ");
  const needs = minimumVersion === undefined ? "" : `the model needs ${minimumVersion}; `;
  return `${needs}devices of ${devices}`;
}

/** The operators of a file that cannot become a HAL model. */
function formatFileOperators(operators: readonly OperatorReport[]): string[] {
  const rows = operators.map((operator) => {
    const { subgraph, index, name, customCode } = operator;
    const label = customCode === undefined ? name : `${name} ${oneLine(customCode)}`;
    return [`  ${subgraph === 0 ? index + 1 : `${subgraph + 1}.${index + 1}`}`, label, outcomeText(operator)];
  });
  return ["Operators of the file", ...columns(rows)];
}

const slowestShown = 5;

/** The steps as a table, the slowest operations if they were measured, and what devices do not take. */
function formatOverview(explanation: Explanation): string[] {
  const { operations, steps, devices, measuredMs } = explanation;
  const isMeasured = measuredMs !== undefined;
  const head = ["step", "device", "operations", "predicted", ...(isMeasured ? ["measured"] : []), "in", "out"];
  const table = steps.length === 0 ? [] : [...columns([head, ...stepRows(explanation, "", isMeasured)]), ""];
  const timed = operations.filter(({ measuredMs }) => measuredMs !== undefined);
  const slowest = timed.sort((a, b) => (b.measuredMs ?? 0) - (a.measuredMs ?? 0)).slice(0, slowestShown);
  const slow = slowest.map(({ index, type, device, outputs, measuredMs = 0 }) => [
    `  ${index + 1}`,
    type,
    operands(outputs),
    device ?? "interpreted",
    milliseconds(measuredMs),
  ]);
  return [
    ...table,
    ...(slow.length === 0 ? [] : ["Slowest operations, each in a step of its own", ...columns(slow), ""]),
    ...devices.flatMap((device) => formatRefusals(device, operations)),
    "--verbose explains each operation.",
  ];
}

/** Those inside an IF or WHILE follow its own row. */
function stepRows({ steps }: ExplainedPlan, above: string, isMeasured: boolean): string[][] {
  return steps.flatMap((step, place) => {
    const { device, operations, predictedMs, measuredMs, inputBytes, outputBytes, inside = [] } = step;
    const label = `${above}${place + 1}`;
    const row = [
      label,
      device ?? "interpreted",
      ranges(operations),
      milliseconds(predictedMs),
      ...(isMeasured ? [measuredMs === undefined ? "" : milliseconds(measuredMs)] : []),
      byteText(inputBytes),
      byteText(outputBytes),
    ];
    return [row, ...inside.flatMap((plan) => stepRows(plan, `${label} ${plan.part} `, isMeasured))];
  });
}

const reasonsShown = 5;

/** Operations that a device does not take: one line for each kind, with the reason of the first. */
function formatRefusals(device: string, operations: readonly ExplainedOperation[]): string[] {
  const byType = new Map<string, { readonly indexes: number[]; readonly reason: string }>();
  for (const { index, type, devices } of operations) {
    const answer = devices[device];
    if (answer === undefined || answer.supported) continue;
    const known = byType.get(type) ?? { indexes: [], reason: answer.reason ?? "" };
    known.indexes.push(index);
    byType.set(type, known);
  }
  if (byType.size === 0) return [];
  const rows = [...byType].map(([type, { indexes, reason }]) => [`  ${ranges(indexes)}`, type, oneLine(reason)]);
  const rest = rows.length - reasonsShown;
  const more = rest > 0 ? [`  and ${formatCount(rest, "other kind")}`] : [];
  return [`${device} does not take`, ...columns(rows.slice(0, reasonsShown)), ...more, ""];
}

function formatPlan({ operations, steps }: ExplainedPlan): string[] {
  const lines = ["Operations", ...operations.flatMap(formatOperation)];
  if (steps.length === 0) return lines;
  lines.push("", "Steps");
  steps.forEach(({ device, operations: inside, inputs, outputs, ...step }, place) => {
    const runner = device ?? "the runtime interprets";
    const measured = step.measuredMs === undefined ? "" : `, measured ${milliseconds(step.measuredMs)}`;
    const time = `predicted ${milliseconds(step.predictedMs)}${measured}`;
    lines.push(
      `  ${place + 1}  ${runner}: ${inside.length === 1 ? "operation" : "operations"} ${ranges(inside)}, ${time}`,
    );
    lines.push(`     in   ${byteText(step.inputBytes)}: ${tensors(inputs)}`);
    lines.push(`     out  ${byteText(step.outputBytes)}: ${tensors(outputs)}`);
    for (const plan of step.inside ?? []) {
      lines.push(`     ${plan.part}`, ...formatPlan(plan).map((line) => (line === "" ? "" : `       ${line}`)));
    }
  });
  return lines;
}

function formatOperation(operation: ExplainedOperation): string[] {
  const { index, type, inputs, outputs, devices, device, step, reason, measuredMs } = operation;
  const answers = columns(
    Object.entries(devices).map(([name, answer]) => [
      `     ${name}`,
      answer.supported ? "yes" : "no",
      oneLine(answer.reason ?? ""),
    ]),
  );
  const measured = measuredMs === undefined ? "" : `; measured ${milliseconds(measuredMs)} by itself`;
  const chosen = step === null ? [] : [`     → ${device ?? "interpreted"}, step ${step + 1}: ${reason}${measured}`];
  return [`  ${index + 1}  ${type}  ${operands(inputs)} → ${operands(outputs)}`, ...answers, ...chosen];
}

/** Types and shapes; a type is named once for those in a row that share it, and scalars in a row are counted. */
function operands(list: readonly ExplainedOperand[]): string {
  const parts: { readonly type: string; readonly shapes: string[] }[] = [];
  for (const { type, shape } of list) {
    if (parts.at(-1)?.type !== type) parts.push({ type, shapes: [] });
    parts.at(-1)?.shapes.push(openShapeText(shape));
  }
  const text = parts.map(({ type, shapes }) => {
    if (type.startsWith("TENSOR_")) return `${type} ${shapes.join(" ")}`;
    return shapes.length === 1 ? type : `${shapes.length} x ${type}`;
  });
  return text.join(", ");
}

function tensors(list: readonly BoundaryTensor[]): string {
  const text = list.map((tensor) => `${nameOf(tensor)} ${tensor.type} ${openShapeText(tensor.shape)}`);
  return text.length === 0 ? "nothing" : text.join(", ");
}

function nameOf({ operand, name }: BoundaryTensor): string {
  return name === undefined ? `operand ${operand}` : `"${plain(name)}"`;
}

/** Indexes as a person counts, from 1; those that follow one another as a range. */
export function ranges(indexes: readonly number[]): string {
  const numbers = indexes.map((index) => index + 1);
  const parts: string[] = [];
  for (let start = 0; start < numbers.length; ) {
    let end = start;
    while (end + 1 < numbers.length && numbers[end + 1] === elementAt(numbers, end) + 1) end++;
    parts.push(end - start < 2 ? numbers.slice(start, end + 1).join(", ") : `${numbers[start]} to ${numbers[end]}`);
    start = end + 1;
  }
  return parts.join(", ");
}
