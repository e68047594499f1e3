/**
 * The drawing of a graph: it can be dragged, made larger, and gone through with the keyboard.
 */
import { h } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { GraphView } from "../engine/graph-view.ts";
import { unfoldGroup } from "../engine/groups.ts";
import { type Camera, centerCamera, fitCamera, type Size, startCamera, zoomCamera } from "./camera.ts";
import { drawScene, type Fills, nodeAt, type Palette } from "./renderer.ts";
import type { Shown } from "./shown.ts";
import { selected, showGroups, shown } from "./store.ts";
import { paints, resolveColor } from "./theme.ts";

/** A drawing on a canvas, which is drawn at most once in a frame. */
interface Drawing {
  camera: Camera;
  /** The middle of the canvas as the last size has it. */
  size: Size;
  graph: GraphView;
  fills: Fills;
  palette: Palette;
  /** True if a person has moved the drawing, or selected a box: then it stays where it is. */
  isMoved: boolean;
  draw(): void;
}

/** The canvas with its buttons. */
export function GraphCanvas({ now, fills }: { readonly now: Shown; readonly fills: Fills }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawing = useRef<Drawing>(undefined);
  const { graph } = now;
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    const made = createDrawing(element, graph, fills);
    drawing.current = made;
    return followPointers(element, made);
  }, []);
  useEffect(() => {
    const made = drawing.current;
    if (made === undefined) return;
    made.graph = graph;
    made.isMoved = false;
    made.camera = startCamera(graph, made.size, topOf(graph));
    made.draw();
  }, [graph]);
  useEffect(() => {
    const made = drawing.current;
    if (made === undefined) return;
    made.fills = fills;
    made.palette = readPalette();
    made.draw();
  }, [fills, paints.value]);
  useEffect(() => {
    const made = drawing.current;
    const node = selected.value === undefined ? undefined : graph.nodes[selected.value];
    if (made === undefined) return;
    if (node !== undefined && !isInView(made, node)) {
      made.isMoved = true;
      made.camera = centerCamera(made.camera, made.size, node.x + node.width / 2, node.y + node.height / 2);
    }
    made.draw();
  }, [graph, selected.value]);
  const change = (next: (made: Drawing) => Camera) => {
    const made = drawing.current;
    if (made === undefined) return;
    made.isMoved = true;
    made.camera = next(made);
    made.draw();
  };
  const zoom = (factor: number) =>
    change(({ camera, size }) => zoomCamera(camera, factor, size.width / 2, size.height / 2));
  const onKeyDown = (event: KeyboardEvent) => {
    const keys: Readonly<Record<string, () => void>> = {
      "+": () => zoom(1.25),
      "-": () => zoom(0.8),
      "0": () => change(({ size }) => fitCamera(graph, size)),
      ArrowDown: () => go(graph, "down"),
      ArrowUp: () => go(graph, "up"),
      ArrowRight: () => go(graph, "next"),
      ArrowLeft: () => go(graph, "before"),
      Enter: () => unfoldSelected(),
      Escape: () => {
        selected.value = undefined;
      },
    };
    const act = keys[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  };
  return h(
    "div",
    { class: "canvas" },
    h("canvas", {
      ref: canvas,
      tabIndex: 0,
      role: "application",
      "aria-label":
        "Drawing of the graph. Arrow keys go to the operator before, after and beside, Enter opens a group, plus and minus change the size. The list of operators has the same.",
      onKeyDown,
      onDblClick: () => unfoldSelected(),
    }),
    h("p", { class: "spoken", "aria-live": "polite" }, spokenText(graph, selected.value)),
    h(
      "div",
      { class: "zoom" },
      h("button", { type: "button", "aria-label": "Larger", onClick: () => zoom(1.25) }, "+"),
      h("button", { type: "button", "aria-label": "Smaller", onClick: () => zoom(0.8) }, "−"),
      h(
        "button",
        { type: "button", "aria-label": "Show all", onClick: () => change(({ size }) => fitCamera(graph, size)) },
        "all",
      ),
    ),
  );
}

/** Opens the group that is selected. */
function unfoldSelected(): void {
  const now = shown.value;
  const node = selected.value === undefined ? undefined : now?.graph.nodes[selected.value];
  const part = now?.file.subgraphs[now.subgraph];
  const group = node?.type === "group" ? now?.folded[node.index] : undefined;
  if (now === undefined || part === undefined || group === undefined) return;
  void showGroups(unfoldGroup(part, now.folded, group), group.from);
}

/** The selected box for those who do not see it. */
function spokenText({ nodes, edges }: GraphView, place: number | undefined): string {
  const node = place === undefined ? undefined : nodes[place];
  if (node === undefined) return "";
  const titles = (ends: readonly number[]) =>
    [...new Set(ends)].map((end) => nodes[end]?.title ?? "").join(", ") || "none";
  const before = edges.filter(({ to }) => to === place).map(({ from }) => from);
  const after = edges.filter(({ from }) => from === place).map(({ to }) => to);
  return `${node.type} ${node.index}, ${node.title}, ${node.detail}. Before it: ${titles(before)}. After it: ${titles(after)}.`;
}

/** The middle of the top side of the first box. */
function topOf({ nodes }: GraphView): { readonly x: number; readonly y: number } {
  const [first] = nodes;
  return first === undefined ? { x: 0, y: 0 } : { x: first.x + first.width / 2, y: first.y };
}

function isInView({ camera: { scale, left, top }, size }: Drawing, node: GraphView["nodes"][number]): boolean {
  const [x, y] = [node.x * scale + left, node.y * scale + top];
  return (
    x >= 0 && y >= 0 && x + node.width * scale <= size.width && y + node.height * scale <= size.height && scale > 0.1
  );
}

/** Selects the first box that one reads from, or that reads from it; or the next in the order of the file. */
function go({ nodes, edges }: GraphView, way: "up" | "down" | "next" | "before"): void {
  const place = selected.value;
  if (place === undefined) {
    selected.value = 0;
    return;
  }
  const found = {
    up: edges.find(({ to }) => to === place)?.from,
    down: edges.find(({ from }) => from === place)?.to,
    next: Math.min(nodes.length - 1, place + 1),
    before: Math.max(0, place - 1),
  }[way];
  if (found !== undefined) selected.value = found;
}

function readPalette(): Palette {
  return {
    text: resolveColor("--box-text"),
    line: resolveColor("--edge"),
    border: resolveColor("--box-border"),
    accent: resolveColor("--accent"),
    port: resolveColor("--kind-port"),
    other: resolveColor("--kind-unknown"),
  };
}

function createDrawing(element: HTMLCanvasElement, graph: GraphView, fills: Fills): Drawing {
  const context = element.getContext("2d");
  let isAsked = false;
  const made: Drawing = {
    camera: { scale: 1, left: 0, top: 0 },
    size: { width: element.clientWidth, height: element.clientHeight },
    graph,
    fills,
    palette: readPalette(),
    isMoved: false,
    draw() {
      if (isAsked) return;
      isAsked = true;
      requestAnimationFrame(() => {
        isAsked = false;
        if (context === null) return;
        const ratio = devicePixelRatio;
        const { graph, fills, camera, palette, size } = made;
        drawScene(context, { graph, fills, camera, selected: selected.peek() }, palette, size, ratio);
        element.dataset.drawn = String(Number(element.dataset.drawn ?? 0) + 1);
      });
    },
  };
  new ResizeObserver(() => {
    const { clientWidth: width, clientHeight: height } = element;
    if (width === 0 || height === 0) return;
    made.size = { width, height };
    element.width = Math.round(width * devicePixelRatio);
    element.height = Math.round(height * devicePixelRatio);
    if (!made.isMoved) made.camera = startCamera(made.graph, made.size, topOf(made.graph));
    made.draw();
  }).observe(element);
  return made;
}

/** Pixels that a pointer may move in a click. */
const STILL = 4;

/** Drags, makes larger, and selects with a mouse, a pen or fingers. Returns a function that ends it. */
function followPointers(element: HTMLCanvasElement, drawing: Drawing): () => void {
  const pointers = new Map<number, { x: number; y: number }>();
  let moved = 0;
  const spread = () => {
    const [a, b] = [...pointers.values()];
    return a === undefined || b === undefined ? 0 : Math.hypot(a.x - b.x, a.y - b.y);
  };
  const down = (event: PointerEvent) => {
    element.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    moved = 0;
  };
  const move = (event: PointerEvent) => {
    const before = pointers.get(event.pointerId);
    if (before === undefined) return;
    const [x, y] = [event.offsetX - before.x, event.offsetY - before.y];
    const spreadBefore = spread();
    pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    moved += Math.abs(x) + Math.abs(y);
    drawing.isMoved = true;
    const part = pointers.size;
    const { scale, left, top } = drawing.camera;
    drawing.camera = { scale, left: left + x / part, top: top + y / part };
    if (spreadBefore > 0)
      drawing.camera = zoomCamera(drawing.camera, spread() / spreadBefore, event.offsetX, event.offsetY);
    drawing.draw();
  };
  const up = (event: PointerEvent) => {
    if (pointers.delete(event.pointerId) && moved < STILL && event.type === "pointerup") {
      selected.value = nodeAt(drawing.graph, drawing.camera, event.offsetX, event.offsetY);
    }
  };
  const wheel = (event: WheelEvent) => {
    event.preventDefault();
    drawing.isMoved = true;
    drawing.camera = zoomCamera(drawing.camera, 1.0015 ** -event.deltaY, event.offsetX, event.offsetY);
    drawing.draw();
  };
  element.addEventListener("pointerdown", down);
  element.addEventListener("pointermove", move);
  element.addEventListener("pointerup", up);
  element.addEventListener("pointercancel", up);
  element.addEventListener("wheel", wheel, { passive: false });
  return () => {
    element.removeEventListener("pointerdown", down);
    element.removeEventListener("pointermove", move);
    element.removeEventListener("pointerup", up);
    element.removeEventListener("pointercancel", up);
    element.removeEventListener("wheel", wheel);
  };
}
