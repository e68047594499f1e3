/**
 * Graphs as an SVG that needs nothing else: boxes with lines of text, edges with the names of what they carry, and a legend.
 */
import { elementAt } from "@nnhal/operations";
import { condense } from "./condense.ts";
import type { DrawnEdge, DrawnGraph, DrawnNode } from "./drawn-graph.ts";
import type { Point } from "./fold.ts";
import { layOutGraph } from "./layout.ts";

/** A picture of some graphs, one below the other. */
export interface GraphPicture {
  readonly title: string;
  readonly legend: readonly { readonly fill: string; readonly label: string; readonly border?: "solid" | "dashed" }[];
  readonly graphs: readonly DrawnGraph[];
}

const margin = 20;
const lineHeight = 15;
const letterWidth = 7.3;
const portWidth = 26;
const stemLength = 4;
/** Of all texts; spaces in them count. */
const font = 'xml:space="preserve" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="12"';
/** Longer lines are cut; the whole text is in the title. */
const mostLetters = 44;

/** A part of the picture and its size. */
interface Part {
  readonly text: string;
  readonly width: number;
  readonly height: number;
}

/** Draws a picture. Equal nodes of more than 16 parallel branches are drawn once, with their number. */
export function drawGraphs({ title, legend, graphs }: GraphPicture): string {
  const parts = [drawLegend(title, legend), ...graphs.map((graph) => drawGraph(condense(graph)))];
  const width = Math.max(...parts.map((part) => part.width)) + 2 * margin;
  let y = margin;
  const placed = parts.map((part) => {
    const group = `<g transform="translate(${margin} ${round(y)})">\n${part.text}\n</g>`;
    y += part.height + margin;
    return group;
  });
  const size = `width="${round(width)}" height="${round(y)}" viewBox="0 0 ${round(width)} ${round(y)}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${font}>`,
    `<title>${escapeXml(title)}</title>`,
    '<rect width="100%" height="100%" fill="#ffffff"/>',
    ...placed,
    "</svg>",
    "",
  ].join("\n");
}

function drawLegend(title: string, rows: GraphPicture["legend"]): Part {
  const text = [
    label(0, lineHeight, title, "start", ' font-weight="bold"'),
    ...rows.flatMap(({ fill, label: name, border }, row) => {
      const y = (row + 1.4) * (lineHeight + 4);
      const box = `<rect x="0" y="${round(y)}" width="14" height="14" rx="3" fill="${fill}" stroke="#333333"${dashOf(border)}/>`;
      return [box, label(22, y + 11, name, "start")];
    }),
  ];
  const widest = Math.max(widthOf(title), ...rows.map((row) => widthOf(row.label) + 22));
  return { text: text.join("\n"), width: widest, height: (rows.length + 1.4) * (lineHeight + 4) };
}

function drawGraph({ heading, nodes, edges }: DrawnGraph): Part {
  const boxes = nodes.map(boxOf);
  const layout = layOutGraph(boxes, edges);
  const top = heading === undefined ? 0 : 2 * lineHeight;
  const text = [
    ...(heading === undefined ? [] : [label(0, lineHeight, heading, "start", ' font-weight="bold"')]),
    `<g transform="translate(0 ${top})">`,
    ...edges.map((edge, place) => {
      const box = elementAt(boxes, edge.from);
      const end = elementAt(layout.nodes, edge.to);
      return drawEdge(elementAt(layout.edges, place), end, edge, portShift(box.ports, edge.result ?? 0));
    }),
    ...boxes.map((box, node) => drawNode(box, elementAt(layout.nodes, node))),
    "</g>",
  ];
  const width = Math.max(layout.width, heading === undefined ? 0 : widthOf(heading));
  return { text: text.join("\n"), width, height: layout.height + top };
}

/** A node with its room: the box, below it the texts of its results, and at the end the places where edges begin. */
interface Box {
  readonly node: DrawnNode;
  readonly lines: readonly string[];
  readonly labels: readonly string[];
  readonly ports: number;
  readonly boxWidth: number;
  readonly boxHeight: number;
  readonly width: number;
  readonly height: number;
}

function boxOf(node: DrawnNode): Box {
  const { results = [] } = node;
  const lines = node.lines.map(shorten);
  const ports = results.length;
  const labels = results.flatMap((texts, place) =>
    texts.map((text, line) =>
      shorten(ports > 1 ? `${line === 0 ? place : " ".repeat(`${place}`.length)} ${text}` : text),
    ),
  );
  const boxWidth = Math.max(...lines.map(widthOf)) + 20;
  const boxHeight = lines.length * lineHeight + 10;
  const below = labels.length === 0 ? 0 : labels.length * lineHeight + 8 + (ports > 1 ? lineHeight : 0);
  return {
    node,
    lines,
    labels,
    ports,
    boxWidth,
    boxHeight,
    width: Math.max(boxWidth, ports > 1 ? ports * portWidth : 0, ...labels.map((text) => widthOf(text) + 8)),
    height: boxHeight + below,
  };
}

/** Returns the offset of the edges of a result from the middle of its node. */
function portShift(ports: number, result: number): number {
  return ports > 1 ? (result - (ports - 1) / 2) * portWidth : 0;
}

function drawNode({ node, lines, labels, ports, boxWidth, boxHeight, height }: Box, { x, y }: Point): string {
  const { fill, title, border, shape = "box" } = node;
  const radius = shape === "box" ? 6 : 14;
  const frame = `x="${round(x - boxWidth / 2)}" y="${round(y)}" width="${round(boxWidth)}" height="${round(boxHeight)}" rx="${radius}"`;
  // Ends above and below the text, which stands on the line.
  const stem = [y + boxHeight, y + height - stemLength]
    .map(
      (top) =>
        `<line x1="${round(x)}" y1="${round(top)}" x2="${round(x)}" y2="${round(top + stemLength)}" ${thinLine}/>`,
    )
    .join("");
  const first = y + boxHeight + lineHeight;
  const numbers = ports > 1 ? Array.from({ length: ports }, (_, port) => port) : [];
  return [
    `<g>${title === undefined ? "" : `<title>${escapeXml(title)}</title>`}`,
    labels.length === 0 || ports > 1 ? "" : stem,
    `<rect ${frame} fill="${fill}" stroke="#333333"${dashOf(border)}/>`,
    ...lines.map((line, row) =>
      label(x, y + (row + 1) * lineHeight + 1, line, "middle", row === 0 ? ' font-weight="bold"' : ""),
    ),
    ...labels.map((text, row) => label(x, first + row * lineHeight, text, "middle", labelLook)),
    ...numbers.map((port) => label(x + portShift(ports, port), y + height - 3, `${port}`, "middle", labelLook)),
    "</g>",
  ].join("");
}

const thinLine = 'fill="none" stroke="#666666"';
const labelLook = ' fill="#1f4d80"';

function dashOf(border: DrawnNode["border"]): string {
  return border === "dashed" ? ' stroke-dasharray="4 3"' : "";
}

/** `end`: the top of the node where it ends. `shift`: where it begins beside the middle. */
function drawEdge(route: readonly Point[], end: Point, { title, line }: DrawnEdge, shift: number): string {
  const name = title === undefined ? "" : `<title>${escapeXml(title)}</title>`;
  const look = line === "thick" ? 'fill="none" stroke="#c02020" stroke-width="2.5"' : thinLine;
  const arrow = `M${round(end.x - 4)} ${round(end.y - 7)}L${round(end.x)} ${round(end.y)}L${round(end.x + 4)} ${round(end.y - 7)}`;
  if (route.length === 0) {
    const stub = `M${round(end.x)} ${round(end.y - 22)}V${round(end.y)}`;
    return `<path d="${stub}${arrow}" ${look} stroke-dasharray="3 3">${name}</path>`;
  }
  let { x, y } = elementAt(route, 0);
  x += shift;
  let path = `M${round(x)} ${round(y)}`;
  for (const [place, next] of route.slice(1).entries()) {
    const to = { x: place === 0 ? next.x + shift : next.x, y: next.y };
    if (to.x === x) path += `V${round(to.y)}`;
    else if (to.y === y) path += `H${round(to.x)}`;
    else {
      const middle = (y + to.y) / 2;
      path += `C${round(x)} ${round(middle)} ${round(to.x)} ${round(middle)} ${round(to.x)} ${round(to.y)}`;
    }
    ({ x, y } = to);
  }
  return `<path d="${path}${arrow}" ${look}>${name}</path>`;
}

function label(x: number, y: number, text: string, anchor: "start" | "middle", more = ""): string {
  const start = anchor === "start" ? "" : ` text-anchor="${anchor}"`;
  return `<text x="${round(x)}" y="${round(y)}"${start}${more}>${escapeXml(text)}</text>`;
}

/** The width of a text; letters of East Asian scripts are as wide as two others. */
function widthOf(text: string): number {
  let letters = 0;
  for (const letter of text) letters += (letter.codePointAt(0) ?? 0) < 0x1100 ? 1 : 1.7;
  return letters * letterWidth;
}

/**
 * A text of at most `mostLetters` letters: the middle is left out, since names of tensors differ at both ends. Of a name that a converter has
 * joined from those of fused operations (`a/Relu6;a/Conv2D`) the first is shown.
 */
function shorten(text: string): string {
  const [first = text] = text.length <= mostLetters ? [text] : text.split(";", 1);
  const letters = [...first];
  if (letters.length <= mostLetters) return first;
  const half = (mostLetters - 1) >> 1;
  return `${letters.slice(0, half).join("")}…${letters.slice(-half).join("")}`;
}

/** Text for XML. Characters that it cannot have, or that show as nothing, are a space; line ends stay. */
export function escapeXml(text: string): string {
  return text
    .replace(/[^\P{C}\n]+|[\u2028\u2029\ufffe\uffff]+/gu, " ")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

function round(value: number): string {
  return String(Math.round(value * 10) / 10);
}
