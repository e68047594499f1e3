/**
 * The picture of an explanation: the graph, each operation in the color of its device, as an SVG that needs nothing else.
 */

import { basename } from "node:path";
import { elementAt } from "@nnhal/operations";
import { type DrawnEdge, type DrawnGraph, drawGraphs } from "@nnhal/utils/graph";
import { openShapeText } from "../text.ts";
import type { ExplainedOperand, ExplainedOperation, ExplainedPlan, Explanation } from "./explanation.ts";

/** Fills that black text can be read on; after the last they come again. */
const fills = ["#9ecbff", "#ffd28a", "#a8e0a0", "#f4b0c8", "#d3b8f5", "#96e0dc", "#e6e08a", "#e0bfa5"];
const interpretedFill = "#e4e4e4";
const noPlanFill = "#ffffff";

/** The picture. */
export function drawExplanation(explanation: Explanation): string {
  const fillOf = (operation: ExplainedOperation): string => {
    if (operation.step === null) return noPlanFill;
    if (operation.device === null) return interpretedFill;
    return elementAt(fills, explanation.devices.indexOf(operation.device) % fills.length);
  };
  return drawGraphs({
    title: `${basename(explanation.model)}, policy ${explanation.policy}`,
    legend: legend(explanation),
    graphs: graphsOf(explanation, "", fillOf),
  });
}

function legend({ devices, operations }: Explanation) {
  const rows = devices.map((device, place) => {
    const count = operations.filter((operation) => operation.device === device).length;
    return {
      fill: elementAt(fills, place % fills.length),
      label: `${device}: ${count} of ${operations.length} operations`,
    };
  });
  if (!operations.some(({ device, step }) => device === null && step !== null)) return rows;
  return [...rows, { fill: interpretedFill, label: "interpreted by the runtime", border: "dashed" as const }];
}

type FillOf = (operation: ExplainedOperation) => string;

/** A plan, followed by the plans inside interpreted operations. `where` names the plan. */
function graphsOf(plan: ExplainedPlan, where: string, fillOf: FillOf): DrawnGraph[] {
  const inside = plan.steps.flatMap(({ inside = [], operations }) =>
    inside.flatMap((inner) => {
      const operation = elementAt(operations, 0);
      const type = elementAt(plan.operations, operation).type;
      return graphsOf(inner, `${where}${type} ${operation + 1}, ${inner.part}: `, fillOf);
    }),
  );
  const graph = graphOf(plan, fillOf);
  return [where === "" ? graph : { heading: where.replace(/: $/, ""), ...graph }, ...inside];
}

function graphOf({ operations }: ExplainedPlan, fillOf: FillOf): DrawnGraph {
  const writer = new Map(
    operations.flatMap(({ outputs, index }) =>
      outputs.map(({ operand }, result) => [operand, { from: index, result }] as const),
    ),
  );
  const edges: DrawnEdge[] = [];
  for (const { inputs, index } of operations) {
    for (const operand of new Map(inputs.map((input) => [input.operand, input])).values()) {
      const source = writer.get(operand.operand);
      if (source === undefined || source.from >= index) continue;
      // Edges that cross from one step to another are thick.
      const crosses = elementAt(operations, source.from).step !== elementAt(operations, index).step;
      const title = operandLines(operand).join(" ");
      edges.push({ ...source, to: index, title, ...(crosses && { line: "thick" }) });
    }
  }
  const nodes = operations.map((operation) => ({
    lines: linesOf(operation),
    kind: kindOf(operation),
    fill: fillOf(operation),
    title: reasonsOf(operation),
    results: operation.outputs.map((output) => operandLines(output)),
    ...(operation.device === null && { border: "dashed" as const }),
  }));
  return { nodes, edges };
}

function linesOf({ index, type, step, measuredMs }: ExplainedOperation): string[] {
  const time = measuredMs === undefined ? "" : `, ${measuredMs.toFixed(3)} ms`;
  return [`${index + 1} ${type}`, ...(step === null ? [] : [`step ${step + 1}${time}`])];
}

/** Text that is equal for operations that compute the same on the same device. */
function kindOf({ type, device, inputs, outputs }: ExplainedOperation): string {
  const operands = [...inputs, ...outputs].map((operand) => `${operand.type} ${openShapeText(operand.shape)}`);
  return [type, device ?? "", ...operands].join("\n");
}

/** Label of an edge: the tensor's name, if it has one, its type and its shape. */
function operandLines({ operand, name, type, shape }: ExplainedOperand): string[] {
  const kind = `${type.replace(/^TENSOR_/, "")} ${openShapeText(shape)}`;
  return name === undefined ? [`${operand}: ${kind}`] : [`${operand}: ${name}`, kind];
}

function reasonsOf({ devices, reason }: ExplainedOperation): string {
  const answers = Object.entries(devices).map(
    ([name, { supported, reason: why }]) => `${name}: ${supported ? "yes" : `no, ${why}`}`,
  );
  return [reason ?? [], answers].flat().join("\n");
}
