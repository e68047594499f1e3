/**
 * The graph of a .tflite file that cannot become a HAL model: its own operators, those that are blocked marked.
 */
import { elementAt } from "@nnhal/operations";
import type { OperatorReport, TfliteInspection, TfliteSubgraph, TfliteTensor } from "@nnhal/tflite";
import {
  createDotWriter,
  type DrawnEdge,
  type DrawnGraph,
  type DrawnNode,
  drawGraphs,
  escapeLabel,
} from "@nnhal/utils/graph";
import { MOST_NAME, outcomeText } from "./info-report.ts";
import { openShapeText } from "./text.ts";

/** Fills of operators that can become HAL operations, and of those that cannot. */
const fills = {
  hal: "#a8e0a0",
  extension: "#a8c8f0",
  constant: "#e4e4e4",
  state: "#e4e4e4",
  unused: "#ffffff",
  blocked: "#f4b0b0",
} as const;

/** The file as JSON. */
export interface FileGraphJson {
  readonly name: string;
  readonly subgraphs: readonly {
    readonly inputs: readonly number[];
    readonly outputs: readonly number[];
    readonly tensors: readonly {
      readonly name: string;
      readonly type: string;
      readonly shape: readonly number[];
      readonly isConstant: boolean;
    }[];
    readonly operators: readonly (OperatorReport & {
      readonly inputs: readonly number[];
      readonly outputs: readonly number[];
    })[];
  }[];
  readonly problems: TfliteInspection["problems"];
  readonly problemCount: number;
}

/** The graph as JSON. */
export function fileGraphJson(name: string, inspection: TfliteInspection): FileGraphJson {
  const { model, problems, problemCount } = inspection;
  const subgraphs = model.subgraphs.map(({ inputs, outputs, tensors, operators }, index) => {
    const reports = reportsOf(inspection, index);
    return {
      inputs,
      outputs,
      tensors: tensors.map((tensor) => ({
        name: tensor.name.slice(0, MOST_NAME),
        type: tensor.type,
        shape: tensor.shape,
        isConstant: tensor.data !== undefined,
      })),
      operators: operators.map((operator, place) => ({
        ...elementAt(reports, place),
        inputs: operator.inputs,
        outputs: operator.outputs,
      })),
    };
  });
  return { name, subgraphs, problems, problemCount };
}

/** The graph as Graphviz text; constants are not shown. */
export function fileGraphDot(name: string, inspection: TfliteInspection): string {
  const lines: string[] = [];
  const dot = createDotWriter((line) => lines.push(`${line}\n`));
  dot.comment(name);
  dot.open("digraph");
  for (const [index, subgraph] of inspection.model.subgraphs.entries()) {
    dot.open(`subgraph cluster_${index}`);
    drawSubgraph(dot, subgraph, index, reportsOf(inspection, index));
    dot.close();
  }
  dot.close();
  return lines.join("");
}

const borderFill = "#fff3a6";

/** The graph as an SVG; constants are not shown. */
export function fileGraphSvg(name: string, inspection: TfliteInspection): string {
  const { subgraphs } = inspection.model;
  const statuses = new Set(inspection.operators.map(({ status }) => status));
  return drawGraphs({
    title: name,
    legend: [
      ...[...statuses].map((status) => ({ fill: fills[status], label: statusTexts[status] })),
      { fill: borderFill, label: "inputs and outputs" },
    ],
    graphs: subgraphs.map((subgraph, index) => ({
      ...(subgraphs.length > 1 && { heading: `subgraph ${index}` }),
      ...drawnSubgraph(subgraph, reportsOf(inspection, index)),
    })),
  });
}

const statusTexts = {
  hal: "becomes operations of the HAL",
  extension: "becomes an operation of an extension",
  constant: "computed when the file is read",
  state: "reads or writes a state",
  unused: "not used",
  blocked: "blocked",
} as const;

function drawnSubgraph(
  { tensors, operators, inputs, outputs }: TfliteSubgraph,
  reports: readonly OperatorReport[],
): DrawnGraph {
  const textOf = (tensor: number) => tensorLines(elementAt(tensors, tensor));
  /** The lines of a tensor without its name. */
  const kindOf = (tensor: number) => textOf(tensor).slice(1).join(" ");
  const nodes: DrawnNode[] = [];
  const edges: DrawnEdge[] = [];
  const writers = new Map<number, { readonly from: number; readonly result: number }>();
  const lead = (tensor: number) => {
    const writer = writers.get(tensor);
    if (writer !== undefined) edges.push({ ...writer, to: nodes.length, title: textOf(tensor).join(" ") });
  };
  for (const [place, tensor] of inputs.entries()) {
    writers.set(tensor, { from: nodes.length, result: 0 });
    nodes.push({
      lines: [`input ${place}`, ...textOf(tensor)],
      kind: `input ${kindOf(tensor)}`,
      fill: borderFill,
      shape: "pill",
    });
  }
  for (const [place, operator] of operators.entries()) {
    const report = elementAt(reports, place);
    operator.inputs.forEach(lead);
    for (const [result, tensor] of operator.outputs.entries()) writers.set(tensor, { from: nodes.length, result });
    nodes.push({
      lines: [titleOf(report, place), outcomeText(report)],
      kind: [report.name, outcomeText(report), ...operator.outputs.map(kindOf)].join("\n"),
      fill: fills[report.status],
      title: outcomeText(report),
      results: operator.outputs.map(textOf),
    });
  }
  for (const [place, tensor] of outputs.entries()) {
    lead(tensor);
    nodes.push({ lines: [`output ${place}`], kind: "output", fill: borderFill, shape: "pill" });
  }
  return { nodes, edges };
}

function titleOf({ name, customCode }: OperatorReport, place: number): string {
  return `${place}: ${customCode === undefined ? name : `${name} ${customCode}`}`;
}

/** A tensor's name, and its type and shape. */
function tensorLines({ name, type, shape, hasRank }: TfliteTensor): string[] {
  return [name.slice(0, MOST_NAME), `${type}${shape.length === 0 && hasRank ? "" : openShapeText(shape)}`];
}

function reportsOf({ operators }: TfliteInspection, subgraph: number): OperatorReport[] {
  return operators.filter((operator) => operator.subgraph === subgraph);
}

function drawSubgraph(
  dot: ReturnType<typeof createDotWriter>,
  { tensors, operators, inputs, outputs }: TfliteSubgraph,
  index: number,
  reports: readonly OperatorReport[],
): void {
  const node = (kind: string, place: number) => `${kind}${index}_${place}`;
  const label = (tensor: number) => tensorLines(elementAt(tensors, tensor)).map(escapeLabel).join("\\n");
  const writers = new Map<number, string>();
  for (const [place, tensor] of inputs.entries()) {
    dot.node(node("in", place), { shape: "ellipse", label: label(tensor) });
    writers.set(tensor, node("in", place));
  }
  for (const [place, report] of reports.entries()) {
    dot.node(node("op", place), {
      shape: "box",
      style: "filled",
      fillcolor: fills[report.status],
      label: [titleOf(report, place), outcomeText(report)].map(escapeLabel).join("\\n"),
    });
    for (const tensor of elementAt(operators, place).outputs) writers.set(tensor, node("op", place));
  }
  for (const [place, operator] of operators.entries()) {
    for (const tensor of operator.inputs) {
      const writer = writers.get(tensor);
      if (writer !== undefined) dot.edge(writer, node("op", place), { label: label(tensor) });
    }
  }
  for (const [place, tensor] of outputs.entries()) {
    dot.node(node("out", place), { shape: "ellipse", label: label(tensor) });
    const writer = writers.get(tensor);
    if (writer !== undefined) dot.edge(writer, node("out", place));
  }
}
