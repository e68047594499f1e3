/**
 * The graph of a .tflite file that cannot become a HAL model: its own operators, those that are blocked marked.
 */
import { elementAt } from "@nnhal/operations";
import type { OperatorReport, TfliteInspection, TfliteSubgraph } from "@nnhal/tflite";
import { createDotWriter, escapeLabel } from "@nnhal/utils/graph";
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
  const label = (tensor: number) => {
    const { name, type, shape, hasRank } = elementAt(tensors, tensor);
    return `${escapeLabel(name.slice(0, MOST_NAME))}\\n${type}${shape.length === 0 && hasRank ? "" : openShapeText(shape)}`;
  };
  const writers = new Map<number, string>();
  for (const [place, tensor] of inputs.entries()) {
    dot.node(node("in", place), { shape: "ellipse", label: label(tensor) });
    writers.set(tensor, node("in", place));
  }
  for (const [place, report] of reports.entries()) {
    const { name, customCode, status } = report;
    const title = customCode === undefined ? name : `${name} ${escapeLabel(customCode)}`;
    const outcome = escapeLabel(outcomeText(report));
    dot.node(node("op", place), {
      shape: "box",
      style: "filled",
      fillcolor: fills[status],
      label: `${place}: ${title}\\n${outcome}`,
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
