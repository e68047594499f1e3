/**
 * Lays a directed graph without cycles out in rows: every node below those that it depends on, with few crossings. Rows are
 * not wider than a picture of good proportions, and a long graph is folded into columns, as text is.
 *
 * Each node gets the first row with room behind the last of its sources. Long edges pass through a point of their own in every
 * row between, shared by the edges of one source, or of one target with many sources. Rows are ordered, and then shifted, by the mean of
 * their neighbours' positions.
 */
import { elementAt } from "@nnhal/operations";
import { fold, type Item, type Point, rowGap } from "./fold.ts";

/** A node's size. */
export interface NodeSize {
  readonly width: number;
  readonly height: number;
}

/** An edge, from a node to a later one. */
export interface Edge {
  readonly from: number;
  readonly to: number;
}

/** Where everything is. */
export interface GraphLayout {
  readonly width: number;
  readonly height: number;
  /** By node: the middle of its top side. */
  readonly nodes: readonly Point[];
  /** By edge: its start, the places that it passes, and its end; empty if there are too many to lead all around the nodes. */
  readonly edges: readonly (readonly Point[])[];
}

const columnGap = 24;
const passWidth = 8;
/** Between lines that run side by side. */
const passGap = 4;
const sweeps = 8;
/** Most places on the way of long edges. Beyond them only edges to the next rows have a way. */
const mostPasses = 50_000;
/** Rows that an edge may pass then. */
const fewRows = 8;
/** An edge to a node with more sources than these joins the others on its way. */
const manySources = 16;
/** A row may always be so wide. */
const narrow = 2400;
/** The width of the picture by its height. */
const proportion = 1.6;

/** Lays a graph out. Edges lead from lower indexes to higher ones. */
export function layOutGraph(sizes: readonly NodeSize[], edges: readonly Edge[]): GraphLayout {
  const rowOf = rowsOf(sizes, edges);
  const items = sizes.map(
    ({ width }, node): Item => ({ row: elementAt(rowOf, node), width, x: 0, above: [], below: [] }),
  );
  const all = [...items];
  /** By source: the points that its edges pass, from the row below it on. */
  const passes = new Map<number, Item[]>();
  /** By target of many edges: the points that these share, from the row above it on. */
  const shared = new Map<number, Item[]>();
  const sourceCount = sizes.map(() => 0);
  for (const { to } of edges) sourceCount[to] = elementAt(sourceCount, to) + 1;
  const isShared = ({ to }: Edge) => elementAt(sourceCount, to) > manySources;
  const rowsBetween = ({ from, to }: Edge) => elementAt(rowOf, to) - elementAt(rowOf, from) - 1;
  const isCrowded = edges.reduce((sum, edge) => sum + rowsBetween(edge), 0) > mostPasses;
  const hasWay = (edge: Edge) => !isCrowded || rowsBetween(edge) <= fewRows;
  const passAt = (row: number): Item => {
    const pass: Item = { row, width: passWidth, x: 0, above: [], below: [] };
    all.push(pass);
    return pass;
  };
  for (const edge of edges.filter(hasWay)) {
    const { from, to } = edge;
    const needed = rowsBetween(edge);
    if (isShared(edge)) {
      const chain = shared.get(to) ?? [];
      shared.set(to, chain);
      while (chain.length < needed) {
        const pass = passAt(elementAt(rowOf, to) - 1 - chain.length);
        join(pass, chain.at(-1) ?? elementAt(items, to));
        chain.push(pass);
      }
      join(elementAt(items, from), needed === 0 ? elementAt(items, to) : elementAt(chain, needed - 1));
      continue;
    }
    const chain = passes.get(from) ?? [];
    passes.set(from, chain);
    while (chain.length < needed) {
      const pass = passAt(elementAt(rowOf, from) + 1 + chain.length);
      join(chain.at(-1) ?? elementAt(items, from), pass);
      chain.push(pass);
    }
    join(needed === 0 ? elementAt(items, from) : elementAt(chain, needed - 1), elementAt(items, to));
  }
  const rows: Item[][] = [];
  for (const item of all) {
    while (rows.length <= item.row) rows.push([]);
    elementAt(rows, item.row).push(item);
  }
  for (const row of rows) pack(row);
  for (let sweep = 0; sweep < sweeps; sweep++) order(sweep % 2 === 0 ? rows : [...rows].reverse(), sweep % 2 === 0);
  for (let sweep = 0; sweep < sweeps; sweep++) shift(sweep % 2 === 0 ? rows : [...rows].reverse(), sweep % 2 === 0);
  const heights = rows.map(() => 0);
  sizes.forEach(({ height }, node) => {
    const row = elementAt(rowOf, node);
    heights[row] = Math.max(elementAt(heights, row), height);
  });
  const { width, height, at, between } = fold(rows, heights, proportion);
  return {
    width,
    height,
    nodes: items.map((item) => at(item, 0)),
    edges: edges.map((edge) => {
      if (!hasWay(edge)) return [];
      const chain = isShared(edge)
        ? (shared.get(edge.to)?.slice(0, rowsBetween(edge)).reverse() ?? [])
        : (passes.get(edge.from)?.slice(0, rowsBetween(edge)) ?? []);
      const [first, last] = [elementAt(items, edge.from), elementAt(items, edge.to)];
      const route = [at(first, elementAt(sizes, edge.from).height), at(first, elementAt(heights, first.row))];
      let before = first;
      for (const item of [...chain, last]) {
        route.push(...between(before, item), at(item, 0));
        if (item !== last) route.push(at(item, elementAt(heights, item.row)));
        before = item;
      }
      return route;
    }),
  };
}

function join(above: Item, below: Item): void {
  above.below.push(below);
  below.above.push(above);
}

function rowsOf(sizes: readonly NodeSize[], edges: readonly Edge[]): number[] {
  const sources: number[][] = sizes.map(() => []);
  for (const { from, to } of edges) elementAt(sources, to).push(from);
  const area = sizes.reduce((sum, { width, height }) => sum + (width + columnGap) * (height + rowGap), 0);
  const most = Math.max(narrow, Math.sqrt(area * proportion));
  const rows: number[] = [];
  const widths: number[] = [];
  /** By row: none before this one has room, for a node of any size. */
  const next: number[] = [];
  const firstWithRoom = (from: number): number => {
    let row = from;
    while (next[row] !== undefined) row = next[row] ?? row;
    for (let passed = from; passed !== row; ) {
      const after = next[passed] ?? row;
      next[passed] = row;
      passed = after;
    }
    return row;
  };
  sources.forEach((before, node) => {
    const { width } = elementAt(sizes, node);
    const first = before.reduce((row, source) => Math.max(row, elementAt(rows, source) + 1), 0);
    const row = firstWithRoom(first);
    const used = (widths[row] ?? 0) + width + columnGap;
    rows[node] = row;
    widths[row] = used;
    // The last one may stick out.
    if (used >= most) next[row] = row + 1;
  });
  // A node without sources is placed in the lowest row above its first reader that has room.
  const readers: number[] = [];
  for (const { from, to } of edges) readers[from] = Math.min(readers[from] ?? Infinity, elementAt(rows, to));
  return rows.map((own, node) => {
    const reader = readers[node];
    if (reader === undefined || elementAt(sources, node).length > 0) return own;
    const width = elementAt(sizes, node).width + columnGap;
    let row = reader - 1;
    while (row > own && (widths[row] ?? 0) + width > most) row--;
    widths[own] = (widths[own] ?? 0) - width;
    widths[row] = (widths[row] ?? 0) + width;
    return row;
  });
}

/** Returns the distance between two neighbours in a row, from middle to middle. */
function distanceOf(left: Item, right: Item): number {
  const areLines = left.width === passWidth && right.width === passWidth;
  return (left.width + right.width) / 2 + (areLines ? passGap : columnGap);
}

/** Puts the items of a row side by side in their order, around 0. */
function pack(row: readonly Item[]): void {
  const [first] = row;
  let before = first;
  for (const item of row) {
    item.x = before === undefined || item === first ? 0 : before.x + distanceOf(before, item);
    before = item;
  }
  const middle = (before?.x ?? 0) / 2;
  for (const item of row) item.x -= middle;
}

function wish(item: Item, down: boolean): number {
  const neighbours = down ? item.above : item.below;
  if (neighbours.length === 0) return item.x;
  return neighbours.reduce((sum, { x }) => sum + x, 0) / neighbours.length;
}

function order(rows: readonly Item[][], down: boolean): void {
  for (const row of rows) {
    const wishes = new Map(row.map((item) => [item, wish(item, down)]));
    row.sort((a, b) => (wishes.get(a) ?? 0) - (wishes.get(b) ?? 0));
    for (let start = 0; start < row.length; ) {
      const wished = wishes.get(elementAt(row, start));
      let end = start + 1;
      while (end < row.length && wishes.get(elementAt(row, end)) === wished) end++;
      if (end > start + 1) row.splice(start, end - start, ...withPassesInside(row.slice(start, end)));
      start = end;
    }
    pack(row);
  }
}

/** Items with equal wishes: the points that edges pass between the two halves of the nodes, so that rows below do not move aside. */
function withPassesInside(items: readonly Item[]): readonly Item[] {
  const nodes = items.filter(({ width }) => width !== passWidth);
  const half = nodes.length >> 1;
  const passes = items.filter(({ width }) => width === passWidth);
  return [...nodes.slice(0, half), ...passes, ...nodes.slice(half)];
}

/** Moves items towards their neighbours without changing the order: the mean of packing from the left and from the right. */
function shift(rows: readonly Item[][], down: boolean): void {
  for (const row of rows) {
    const wishes = row.map((item) => wish(item, down));
    const gap = (place: number) => distanceOf(elementAt(row, place), elementAt(row, place + 1));
    const fromLeft = [...wishes];
    for (let place = 1; place < row.length; place++) {
      fromLeft[place] = Math.max(elementAt(fromLeft, place), elementAt(fromLeft, place - 1) + gap(place - 1));
    }
    const fromRight = [...wishes];
    for (let place = row.length - 2; place >= 0; place--) {
      fromRight[place] = Math.min(elementAt(fromRight, place), elementAt(fromRight, place + 1) - gap(place));
    }
    row.forEach((item, place) => {
      item.x = (elementAt(fromLeft, place) + elementAt(fromRight, place)) / 2;
    });
  }
}
