/**
 * A model as an SVG: operations colored by kind, with their parameters, and the names, types and shapes of the tensors between
 * them.
 */
import type { Model } from "@nnhal/types";
import { drawGraphs } from "./draw-graphs.ts";
import type { DrawnEdge, DrawnGraph, DrawnNode } from "./drawn-graph.ts";
import type { GraphDumpOptions } from "./graph-dump.ts";
import { kindOf } from "./kinds.ts";
import { codeName, isHideable, quantisationText, valueText } from "./operand-text.ts";
import { type OperandDescription, type OperationDescription, type SubgraphDescription, visitGraph } from "./visit.ts";

/** The parts of a subgraph that are drawn. */
interface Scope {
  readonly subgraph: SubgraphDescription;
  readonly operands: OperandDescription[];
  readonly operations: OperationDescription[];
}

const inputFill = "#fff3a6";
const constantFill = "#f6f6f6";

/**
 * Draws a model: the main subgraph, below it those that it names. `options.constants` is `inside` by default. The model need not be
 * valid: operands that nothing writes before they are read are named inside the operation.
 */
export function graphToSvg(name: string, model: Model, options: GraphDumpOptions = {}): string {
  const scopes: Scope[] = [];
  const visitor = {
    begin() {},
    beginSubgraph: (subgraph: SubgraphDescription) => void scopes.push({ subgraph, operands: [], operations: [] }),
    operand: (operand: OperandDescription) => void scopes.at(-1)?.operands.push(operand),
    operation: (operation: OperationDescription) => void scopes.at(-1)?.operations.push(operation),
    endSubgraph() {},
    end() {},
  };
  visitGraph(name, model, visitor, options);
  const kinds = new Set(scopes.flatMap(({ operations }) => operations.map(kindOf)));
  return drawGraphs({
    title: name,
    legend: [
      ...[...kinds].map(({ label, color }) => ({ fill: color, label })),
      { fill: inputFill, label: "inputs and outputs of the model" },
    ],
    graphs: scopes.map((scope) => graphOf(scope, options.constants !== "nodes")),
  });
}

/** A node that an operand comes from, and its place among the node's results. */
interface Writer {
  readonly from: number;
  readonly result: number;
}

function graphOf({ subgraph: { index, inputs, outputs }, operands, operations }: Scope, isInside: boolean): DrawnGraph {
  const nodes: DrawnNode[] = [];
  const edges: DrawnEdge[] = [];
  const writers = new Map<number, Writer>();
  const lead = (operand: number, to: number, parameter = ""): boolean => {
    const writer = writers.get(operand);
    if (writer === undefined) return false;
    edges.push({ ...writer, to, title: [parameter, ...textOf(operands[operand], operand)].join(" ").trim() });
    return true;
  };
  const source = (operand: number, head: string, fill: string) => {
    const kind = `${head.split(" ")[0]} ${describe(operands[operand])}`;
    nodes.push({ lines: [head, ...textOf(operands[operand], operand)], kind, fill, shape: "pill", results: [[]] });
    writers.set(operand, { from: nodes.length - 1, result: 0 });
  };
  inputs.forEach((operand, place) => {
    if (!writers.has(operand)) source(operand, `input ${place}`, inputFill);
  });
  if (!isInside) {
    for (const operand of operands) if (isHideable(operand)) source(operand.index, operand.lifetime, constantFill);
  }
  for (const operation of operations) {
    const to = nodes.length;
    // Tells the edges of an operation apart.
    const namesEdges = operation.inputs.filter((operand) => writers.has(operand)).length > 1;
    const constants: string[] = [];
    const shown = operation.inputs.flatMap((operand, place): string[] => {
      const parameter = String(operation.inputNames[place] ?? place);
      if (lead(operand, to, parameter)) return namesEdges ? [`${parameter}: ${operand}`] : [];
      constants.push(`${parameter}: ${parameterText(operands[operand], operand, parameter)}`);
      return constants.slice(-1);
    });
    nodes.push({
      lines: [`${operation.index} ${operation.type}`, ...shown],
      kind: [operation.type, ...constants, ...operation.outputs.map((operand) => describe(operands[operand]))].join(
        "\n",
      ),
      fill: kindOf(operation).color,
      title: titleOf(operation, operands),
      results: operation.outputs.map((operand) => textOf(operands[operand], operand)),
      ...(!operation.isKnown && { border: "dashed" }),
    });
    operation.outputs.forEach((operand, result) => {
      writers.set(operand, { from: to, result });
    });
  }
  outputs.forEach((operand, place) => {
    const isWritten = lead(operand, nodes.length);
    const lines = [`output ${place}`, ...(isWritten ? [] : textOf(operands[operand], operand))];
    nodes.push({ lines, kind: "output", fill: inputFill, shape: "pill" });
  });
  return { nodes, edges, ...(index !== undefined && { heading: `subgraph ${index}` }) };
}

/** An operand in up to three lines: its index with its name, its type with its shape, and its quantisation. */
function textOf(operand: OperandDescription | undefined, index: number): string[] {
  if (operand === undefined) return [String(index)];
  const { name } = operand;
  const quantisation = quantisationText(operand);
  const kind = kindText(operand);
  if (name === undefined) return [`${index}: ${kind}`, ...(quantisation === undefined ? [] : [quantisation])];
  return [`${index}: ${name}`, kind, ...(quantisation === undefined ? [] : [quantisation])];
}

/** Type, shape and quantisation of an operand. */
function describe(operand: OperandDescription | undefined): string {
  return operand === undefined ? "" : `${kindText(operand)} ${quantisationText(operand) ?? ""}`;
}

function kindText({ type, dimensions }: OperandDescription): string {
  const shape = dimensions.map((extent) => (extent === 0 ? "?" : extent)).join("x");
  return `${type.replace(/^TENSOR_/, "")}${shape === "" ? "" : ` ${shape}`}`;
}

/** A parameter that no edge brings: a short value as it is, of others the type and the shape. */
function parameterText(operand: OperandDescription | undefined, index: number, parameter: string): string {
  if (operand === undefined) return `${index}, which is not there`;
  const { value, subgraph, lifetime, extensionData } = operand;
  if (lifetime === "NO_VALUE") return "omitted";
  if (subgraph !== undefined) return `subgraph ${subgraph}`;
  const data = extensionData === undefined ? "" : ` ${extensionData}`;
  const shown = codeName(parameter, value) ?? (value === undefined ? undefined : valueText(value));
  const problem = isHideable(operand) ? "" : ` (${index}, which nothing has written)`;
  return `${shown ?? kindText(operand)}${data}${problem}`;
}

/** All about the operation's operands, one a line. */
function titleOf(
  { inputs, outputs, inputNames }: OperationDescription,
  operands: readonly OperandDescription[],
): string {
  const line = (parameter: string | number, operand: number) =>
    `${parameter}: ${textOf(operands[operand], operand).join(", ")}`;
  return [
    ...inputs.map((operand, place) => line(inputNames[place] ?? `input ${place}`, operand)),
    ...outputs.map((operand, place) => line(`output ${place}`, operand)),
  ].join("\n");
}
