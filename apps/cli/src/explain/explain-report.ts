/**
 * The explanation as text.
 */

import { basename } from "node:path";
import { elementAt } from "@nnhal/operations";
import type { OperatorReport } from "@nnhal/tflite";
import { formatProblems, outcomeText } from "../info-report.ts";
import { byteText, columns, counted, milliseconds, oneLine, shapeText } from "../text.ts";
import type {
  BoundaryTensor,
  ExplainedOperand,
  ExplainedOperation,
  ExplainedPlan,
  Explanation,
} from "./explanation.ts";

/** The explanation for people. */
export function formatExplanation(explanation: Explanation): string {
  const { model, devices, policy, preference, steps, predictedMs = 0, measuredMs, memory, problem } = explanation;
  const facts: string[][] = [
    ["model", basename(model)],
    ["devices", devices.join(", ")],
    ["policy", `${policy}, ${preference}`],
  ];
  if (problem === undefined) {
    const measured = measuredMs === undefined ? "" : `, measured ${milliseconds(measuredMs)}`;
    facts.push(["plan", `${counted(steps.length, "step")}, predicted ${milliseconds(predictedMs)}${measured}`]);
  } else facts.push(["plan", `none: ${oneLine(problem)}`]);
  if (memory !== undefined) {
    facts.push([
      "memory",
      `${byteText(memory.peak)} between steps; no layout takes less than ${byteText(memory.lowerBound)}`,
    ]);
  }
  const { fileOperators, problems = [] } = explanation;
  const body =
    fileOperators === undefined
      ? formatPlan(explanation)
      : [...formatFileOperators(fileOperators), ...formatProblems({ problems, problemCount: problems.length })];
  return `${[...columns(facts), "", ...body].join("\n")}\n`;
}

/** The operators of a file that cannot become a HAL model. */
function formatFileOperators(operators: readonly OperatorReport[]): string[] {
  const rows = operators.map((operator) => {
    const { subgraph, index, name, customCode } = operator;
    const label = customCode === undefined ? name : `${name} ${oneLine(customCode)}`;
    return [`  ${subgraph === 0 ? index : `${subgraph}.${index}`}`, label, outcomeText(operator)];
  });
  return ["Operators of the file", ...columns(rows)];
}

function formatPlan({ operations, steps }: ExplainedPlan): string[] {
  const lines = ["Operations", ...operations.flatMap(formatOperation)];
  if (steps.length === 0) return lines;
  lines.push("", "Steps");
  steps.forEach(({ device, operations: inside, inputs, outputs, ...step }, place) => {
    const where = device ?? "the runtime interprets";
    const measured = step.measuredMs === undefined ? "" : `, measured ${milliseconds(step.measuredMs)}`;
    const time = `predicted ${milliseconds(step.predictedMs)}${measured}`;
    lines.push(`  ${place}  ${where}: ${inside.length === 1 ? "operation" : "operations"} ${ranges(inside)}, ${time}`);
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
  const chosen = step === null ? [] : [`     → ${device ?? "interpreted"}, step ${step}: ${reason}${measured}`];
  return [`  ${index}  ${type}  ${operands(inputs)} → ${operands(outputs)}`, ...answers, ...chosen];
}

/** Types and shapes; a type is named once for those in a row that share it, and scalars in a row are counted. */
function operands(list: readonly ExplainedOperand[]): string {
  const parts: { readonly type: string; readonly shapes: string[] }[] = [];
  for (const { type, shape } of list) {
    if (parts.at(-1)?.type !== type) parts.push({ type, shapes: [] });
    parts.at(-1)?.shapes.push(shapeText(shape));
  }
  const text = parts.map(({ type, shapes }) => {
    if (type.startsWith("TENSOR_")) return `${type} ${shapes.join(" ")}`;
    return shapes.length === 1 ? type : `${shapes.length} x ${type}`;
  });
  return text.join(", ");
}

function tensors(list: readonly BoundaryTensor[]): string {
  const text = list.map((tensor) => `operand ${tensor.operand} ${tensor.type} ${shapeText(tensor.shape)}`);
  return text.length === 0 ? "nothing" : text.join(", ");
}

/** Numbers in order, those that follow one another as a range. */
export function ranges(numbers: readonly number[]): string {
  const parts: string[] = [];
  for (let start = 0; start < numbers.length; ) {
    let end = start;
    while (end + 1 < numbers.length && numbers[end + 1] === elementAt(numbers, end) + 1) end++;
    parts.push(end - start < 2 ? numbers.slice(start, end + 1).join(", ") : `${numbers[start]} to ${numbers[end]}`);
    start = end + 1;
  }
  return parts.join(", ");
}
