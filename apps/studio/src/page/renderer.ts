/**
 * Draws a graph on a canvas. Only what is in view is drawn: boxes of a color in one path, all lines in one path, and texts if they are large
 * enough to be read. Colors come from the styles of the page.
 */
import type { EdgeView, GraphView, NodeView } from "../engine/graph-view.ts";
import { type Camera, READABLE, type Size } from "./camera.ts";

/** Fills of boxes by place; undefined: that of inputs and outputs, or of others. */
export type Fills = readonly (string | undefined)[];

/** The graph to draw, and how it is shown. */
export interface Scene {
  readonly graph: GraphView;
  readonly fills: Fills;
  /** Place of the selected box; undefined: none. */
  readonly selected: number | undefined;
  readonly camera: Camera;
}

/** Colors of the page's styles. */
export interface Palette {
  readonly text: string;
  readonly line: string;
  readonly border: string;
  readonly accent: string;
  readonly port: string;
  readonly other: string;
}

/** An edge with the rectangle that it lies in. */
interface BoundEdge {
  readonly edge: EdgeView;
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

const boundsOf = new WeakMap<GraphView, readonly BoundEdge[]>();

function boundEdges(graph: GraphView): readonly BoundEdge[] {
  const known = boundsOf.get(graph);
  if (known !== undefined) return known;
  const made = graph.edges.map((edge): BoundEdge => {
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (let at = 0; at + 1 < edge.points.length; at += 2) {
      const [x = 0, y = 0] = [edge.points[at], edge.points[at + 1]];
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y);
    }
    return { edge, left, top, right, bottom };
  });
  boundsOf.set(graph, made);
  return made;
}

/** Arrows and rounded corners are drawn from this scale on. */
const DETAILED = 0.25;

/** Draws a scene. `size`: of the canvas in pixels of the page; `ratio`: pixels of the canvas in one of the page. */
export function drawScene(
  context: CanvasRenderingContext2D,
  { graph, fills, selected, camera }: Scene,
  palette: Palette,
  size: Size,
  ratio: number,
): void {
  const { scale, left, top } = camera;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, size.width * ratio, size.height * ratio);
  context.setTransform(scale * ratio, 0, 0, scale * ratio, left * ratio, top * ratio);
  const view = {
    left: -left / scale,
    top: -top / scale,
    right: (size.width - left) / scale,
    bottom: (size.height - top) / scale,
  };
  const isDetailed = scale >= DETAILED;
  drawEdges(context, graph, palette, view, scale, selected);
  const visible = graph.nodes.flatMap((node, place) =>
    node.x < view.right && node.x + node.width > view.left && node.y < view.bottom && node.y + node.height > view.top
      ? [{ node, place }]
      : [],
  );
  const byFill = new Map<string, NodeView[]>();
  for (const { node, place } of visible) {
    const fill = fills[place] ?? (isPort(node) ? palette.port : palette.other);
    const list = byFill.get(fill);
    if (list === undefined) byFill.set(fill, [node]);
    else list.push(node);
  }
  for (const [fill, nodes] of byFill) {
    context.beginPath();
    for (const node of nodes) {
      const { x, y, width, height } = node;
      if (isDetailed) context.roundRect(x, y, width, height, isPort(node) ? height / 2 : 5);
      else context.rect(x, y, width, height);
    }
    context.fillStyle = fill;
    context.fill();
    if (!isDetailed) continue;
    // A group has a second line.
    for (const { type, x, y, width, height } of nodes)
      if (type === "group") context.roundRect(x - 3, y - 3, width + 6, height + 6, 8);
    context.strokeStyle = palette.border;
    context.lineWidth = 1;
    context.stroke();
  }
  const chosen = selected === undefined ? undefined : graph.nodes[selected];
  if (chosen !== undefined) {
    context.strokeStyle = palette.accent;
    context.lineWidth = Math.max(2.5, 2 / scale);
    context.beginPath();
    context.roundRect(chosen.x - 2, chosen.y - 2, chosen.width + 4, chosen.height + 4, 7);
    context.stroke();
  }
  if (scale < READABLE * 0.75) return;
  context.textAlign = "center";
  context.fillStyle = palette.text;
  context.font = "600 12px system-ui, sans-serif";
  for (const { node } of visible) context.fillText(node.title, node.x + node.width / 2, node.y + 17, node.width - 8);
  context.font = "11px ui-monospace, Menlo, Consolas, monospace";
  for (const { node } of visible) context.fillText(node.detail, node.x + node.width / 2, node.y + 32, node.width - 8);
}

function isPort({ type }: NodeView): boolean {
  return type === "input" || type === "output";
}

interface View {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

function drawEdges(
  context: CanvasRenderingContext2D,
  graph: GraphView,
  palette: Palette,
  view: View,
  scale: number,
  selected: number | undefined,
): void {
  const isDetailed = scale >= DETAILED;
  const near: EdgeView[] = [];
  context.beginPath();
  for (const { edge, left, top, right, bottom } of boundEdges(graph)) {
    if (left > view.right || right < view.left || top > view.bottom || bottom < view.top) continue;
    if (edge.from === selected || edge.to === selected) near.push(edge);
    else traceEdge(context, edge, isDetailed);
  }
  context.strokeStyle = palette.line;
  context.lineWidth = Math.max(1, 0.6 / scale);
  context.stroke();
  if (near.length === 0) return;
  context.beginPath();
  for (const edge of near) traceEdge(context, edge, isDetailed);
  context.strokeStyle = palette.accent;
  context.lineWidth = Math.max(2, 1.5 / scale);
  context.stroke();
}

/** Adds a line to the path: curves between its points, and an arrow at the end. */
function traceEdge(context: CanvasRenderingContext2D, { points }: EdgeView, isDetailed: boolean): void {
  let [x = 0, y = 0] = points;
  context.moveTo(x, y);
  for (let at = 2; at + 1 < points.length; at += 2) {
    const [nextX = 0, nextY = 0] = [points[at], points[at + 1]];
    if (isDetailed && nextX !== x && nextY !== y) {
      const middle = (y + nextY) / 2;
      context.bezierCurveTo(x, middle, nextX, middle, nextX, nextY);
    } else context.lineTo(nextX, nextY);
    [x, y] = [nextX, nextY];
  }
  if (!isDetailed || points.length === 0) return;
  context.moveTo(x - 4, y - 7);
  context.lineTo(x, y);
  context.lineTo(x + 4, y - 7);
}

/** The place of the box at a point of the view; undefined: there is none. */
export function nodeAt({ nodes }: GraphView, { scale, left, top }: Camera, x: number, y: number): number | undefined {
  const [atX, atY] = [(x - left) / scale, (y - top) / scale];
  const found = nodes.findIndex(
    (node) => atX >= node.x && atX <= node.x + node.width && atY >= node.y && atY <= node.y + node.height,
  );
  return found < 0 ? undefined : found;
}
