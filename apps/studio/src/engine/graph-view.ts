/**
 * A graph of a file as boxes and lines with places. Laid out in the worker, drawn by the page.
 */
import { layOutGraph } from "@nnhal/utils/graph";
import { shapeText, shorten } from "../text.ts";
import type { SubgraphView, TensorView } from "./file-view.ts";
import type { Group } from "./groups.ts";

/** A box: an input of the graph, an operator, a group of operators, or an output. */
export interface NodeView {
  readonly type: "input" | "operator" | "group" | "output";
  /** Place among the inputs, operators, groups or outputs. */
  readonly index: number;
  readonly title: string;
  readonly detail: string;
  /** Of the box, in units of the drawing. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A line between two boxes; it carries a tensor. */
export interface EdgeView {
  readonly from: number;
  readonly to: number;
  readonly tensor: number;
  /** x and y of each point; empty if it is too long to be drawn. */
  readonly points: readonly number[];
}

/** A graph with places. */
export interface GraphView {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly NodeView[];
  readonly edges: readonly EdgeView[];
}

/** Width of a letter in units of the drawing, as the page draws it. */
const LETTER = 7;
const NODE_HEIGHT = 40;
const LEAST_WIDTH = 84;
const MOST_TITLE = 32;

/** Lays a graph out. `groups`: those that are drawn as one box, in the order of their operators. Operators come after those whose results they read; a file in which they do not has no line for it. */
export function drawSubgraph(
  { tensors, operators, inputs, outputs }: SubgraphView,
  groups: readonly Group[] = [],
): GraphView {
  const boxes: Pick<NodeView, "type" | "index" | "title" | "detail">[] = [];
  const edges: { readonly from: number; readonly to: number; readonly tensor: number }[] = [];
  const writers = new Map<number, number>();
  const detailOf = (tensor: number | undefined) => tensorText(tensor === undefined ? undefined : tensors[tensor]);
  const lead = (read: readonly number[]) => {
    const to = boxes.length;
    for (const tensor of new Set(read)) {
      const from = writers.get(tensor);
      if (from !== undefined && from !== to) edges.push({ from, to, tensor });
    }
  };
  for (const [index, tensor] of inputs.entries()) {
    writers.set(tensor, boxes.length);
    boxes.push({
      type: "input",
      index,
      title: shorten(tensors[tensor]?.name || `input ${index}`, MOST_TITLE),
      detail: detailOf(tensor),
    });
  }
  let nextGroup = 0;
  for (const { index, name, inputs: read, outputs: written } of operators) {
    const group = groups[nextGroup];
    if (group === undefined || index < group.from) {
      lead(read);
      for (const tensor of written) writers.set(tensor, boxes.length);
      boxes.push({ type: "operator", index, title: shorten(name, MOST_TITLE), detail: detailOf(written[0]) });
      continue;
    }
    for (const tensor of written) writers.set(tensor, boxes.length);
    if (index + 1 < group.to) continue;
    lead(operators.slice(group.from, group.to).flatMap(({ inputs: each }) => each));
    boxes.push({
      type: "group",
      index: nextGroup++,
      title: shorten(group.name, MOST_TITLE),
      detail: `${group.to - group.from} operators`,
    });
  }
  for (const [index, tensor] of outputs.entries()) {
    lead([tensor]);
    boxes.push({
      type: "output",
      index,
      title: shorten(tensors[tensor]?.name || `output ${index}`, MOST_TITLE),
      detail: detailOf(tensor),
    });
  }
  const sizes = boxes.map(({ title, detail }) => ({
    width: Math.max(LEAST_WIDTH, Math.max(title.length, detail.length) * LETTER + 20),
    height: NODE_HEIGHT,
  }));
  const layout = layOutGraph(sizes, edges);
  return {
    width: layout.width,
    height: layout.height,
    nodes: boxes.map((box, place) => {
      const { width, height } = sizes[place] ?? { width: LEAST_WIDTH, height: NODE_HEIGHT };
      const { x, y } = layout.nodes[place] ?? { x: 0, y: 0 };
      return { ...box, x: x - width / 2, y, width, height };
    }),
    edges: edges.map((edge, place) => ({
      ...edge,
      points: (layout.edges[place] ?? []).flatMap(({ x, y }) => [x, y]),
    })),
  };
}

function tensorText(tensor: TensorView | undefined): string {
  return tensor === undefined ? "" : `${tensor.type.toLowerCase()} ${shapeText(tensor.shape)}`;
}
