/**
 * The picture of an explanation: the graph, each operation in the colour of its device, as an SVG that needs nothing else.
 */

import { basename } from "node:path";
import { elementAt } from "@nnhal/operations";
import { openShapeText, plain } from "../text.ts";
import type { ExplainedOperation, ExplainedPlan, Explanation } from "./explanation.ts";
import { type Edge, layOutGraph, type NodeSize, type Point } from "./layout.ts";

/** Fills that black text can be read on; after the last they come again. */
const fills = ["#9ecbff", "#ffd28a", "#a8e0a0", "#f4b0c8", "#d3b8f5", "#96e0dc", "#e6e08a", "#e0bfa5"];
const interpretedFill = "#e4e4e4";
const noPlanFill = "#ffffff";

const margin = 20;
const lineHeight = 15;
const letterWidth = 7;
const font = 'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="12"';

/** A part of the picture and its size. */
interface Part extends NodeSize {
  readonly text: string;
}

/** The picture. */
export function drawExplanation(explanation: Explanation): string {
  const fillOf = (operation: ExplainedOperation): string => {
    if (operation.step === null) return noPlanFill;
    if (operation.device === null) return interpretedFill;
    return elementAt(fills, explanation.devices.indexOf(operation.device) % fills.length);
  };
  const parts = [legend(explanation), ...drawPlan(explanation, "", fillOf)];
  const width = Math.max(...parts.map((part) => part.width)) + 2 * margin;
  let y = margin;
  const placed = parts.map((part) => {
    const group = `<g transform="translate(${margin} ${y})">\n${part.text}\n</g>`;
    y += part.height + 2 * margin;
    return group;
  });
  const size = `width="${round(width)}" height="${round(y)}" viewBox="0 0 ${round(width)} ${round(y)}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${font}>`,
    `<title>${escaped(basename(explanation.model))}</title>`,
    '<rect width="100%" height="100%" fill="#ffffff"/>',
    ...placed,
    "</svg>",
    "",
  ].join("\n");
}

function legend({ model, devices, operations, policy }: Explanation): Part {
  const rows = devices.map((device, place) => {
    const count = operations.filter((operation) => operation.device === device).length;
    return { fill: fills[place % fills.length], label: `${device}: ${count} of ${operations.length} operations` };
  });
  if (operations.some(({ device, step }) => device === null && step !== null)) {
    rows.push({ fill: interpretedFill, label: "interpreted by the runtime" });
  }
  const title = `${basename(model)}, policy ${policy}`;
  const text = [
    label(0, lineHeight, title, "start", ' font-weight="bold"'),
    ...rows.flatMap(({ fill, label: name }, row) => {
      const y = (row + 1.4) * (lineHeight + 4);
      return [
        `<rect x="0" y="${round(y)}" width="14" height="14" rx="3" fill="${fill}" stroke="#333333"/>`,
        label(22, y + 11, name, "start"),
      ];
    }),
  ];
  const widest = Math.max(title.length, ...rows.map((row) => row.label.length + 3));
  return { text: text.join("\n"), width: widest * letterWidth, height: (rows.length + 2) * (lineHeight + 4) };
}

type FillOf = (operation: ExplainedOperation) => string;

/** A plan, followed by the plans inside interpreted operations. `where` names the plan. */
function drawPlan(plan: ExplainedPlan, where: string, fillOf: FillOf): Part[] {
  const inside = plan.steps.flatMap(({ inside = [], operations }) =>
    inside.flatMap((inner) => {
      const operation = elementAt(operations, 0);
      return drawPlan(
        inner,
        `${where}${elementAt(plan.operations, operation).type} ${operation + 1}, ${inner.part}: `,
        fillOf,
      );
    }),
  );
  return [drawGraph(plan, where, fillOf), ...inside];
}

function drawGraph({ operations }: ExplainedPlan, where: string, fillOf: FillOf): Part {
  const writer = new Map(operations.flatMap(({ outputs, index }) => outputs.map(({ operand }) => [operand, index])));
  const edges: (Edge & { readonly operand: ExplainedOperation["inputs"][number] })[] = [];
  for (const { inputs, index } of operations) {
    for (const operand of new Map(inputs.map((input) => [input.operand, input])).values()) {
      const from = writer.get(operand.operand);
      if (from !== undefined && from < index) edges.push({ from, to: index, operand });
    }
  }
  const labels = operations.map((operation) => linesOf(operation));
  const sizes = labels.map(
    (lines): NodeSize => ({
      width: Math.max(...lines.map((line) => line.length)) * letterWidth + 20,
      height: lines.length * lineHeight + 10,
    }),
  );
  const layout = layOutGraph(sizes, edges);
  const top = where === "" ? 0 : 2 * lineHeight;
  const text = [
    ...(where === "" ? [] : [label(0, lineHeight, where.replace(/: $/, ""), "start", ' font-weight="bold"')]),
    `<g transform="translate(0 ${top})">`,
    ...edges.map(({ from, to, operand }, place) => {
      const crosses = elementAt(operations, from).step !== elementAt(operations, to).step;
      return drawEdge(
        elementAt(layout.edges, place),
        crosses,
        `operand ${operand.operand}: ${operand.type} ${openShapeText(operand.shape)}`,
      );
    }),
    ...operations.map((operation, index) =>
      drawNode(
        operation,
        elementAt(labels, index),
        elementAt(layout.nodes, index),
        elementAt(sizes, index),
        fillOf(operation),
      ),
    ),
    "</g>",
  ];
  return { text: text.join("\n"), width: layout.width, height: layout.height + top };
}

function linesOf({ index, type, outputs, step, measuredMs }: ExplainedOperation): string[] {
  const [first] = outputs;
  const time = measuredMs === undefined ? "" : `, ${measuredMs.toFixed(3)} ms`;
  return [
    `${index + 1} ${type}`,
    ...(first === undefined ? [] : [openShapeText(first.shape)]),
    ...(step === null ? [] : [`step ${step + 1}${time}`]),
  ];
}

function drawNode(
  operation: ExplainedOperation,
  lines: readonly string[],
  { x, y }: Point,
  { width, height }: NodeSize,
  fill: string,
): string {
  const answers = Object.entries(operation.devices).map(
    ([name, { supported, reason }]) => `${name}: ${supported ? "yes" : `no, ${reason}`}`,
  );
  const why = [operation.reason ?? [], answers].flat().join("\n");
  const dash = operation.device === null ? ' stroke-dasharray="4 3"' : "";
  const box = `x="${round(x - width / 2)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" rx="6"`;
  return [
    `<g><title>${escaped(why)}</title><rect ${box} fill="${fill}" stroke="#333333"${dash}/>`,
    ...lines.map((line, row) => label(x, y + (row + 1) * lineHeight + 1, line, "middle")),
    "</g>",
  ].join("");
}

/** Edges that cross from one step to another are thick. */
function drawEdge(route: readonly Point[], crosses: boolean, title: string): string {
  let { x, y } = elementAt(route, 0);
  let path = `M${round(x)} ${round(y)}`;
  for (const next of route.slice(1)) {
    const middle = (y + next.y) / 2;
    path += `C${round(x)} ${round(middle)} ${round(next.x)} ${round(middle)} ${round(next.x)} ${round(next.y)}`;
    ({ x, y } = next);
  }
  const stroke = crosses ? 'stroke="#c02020" stroke-width="2.5"' : 'stroke="#666666"';
  const arrow = `M${round(x - 4)} ${round(y - 7)}L${round(x)} ${round(y)}L${round(x + 4)} ${round(y - 7)}`;
  return `<path d="${path}${arrow}" fill="none" ${stroke}><title>${escaped(title)}</title></path>`;
}

function label(x: number, y: number, text: string, anchor: "start" | "middle", more = ""): string {
  const start = anchor === "start" ? "" : ` text-anchor="${anchor}"`;
  return `<text x="${round(x)}" y="${round(y)}"${start}${more}>${escaped(text)}</text>`;
}

export function escaped(text: string): string {
  return text
    .split("\n")
    .map(plain)
    .join("\n")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}

function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}
