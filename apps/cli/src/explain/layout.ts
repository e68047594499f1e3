/**
 * Lays a directed graph without cycles out in rows: every node below those that it depends on, with few crossings.
 *
 * Each node gets the row behind the last of its sources. Long edges pass through a place of their own in every row between,
 * shared by the edges of one source. Rows are ordered, and then shifted, by the mean of the neighbours' places.
 */
import { elementAt } from "@nnhal/operations";

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

/** A point in the picture. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Where everything is. */
export interface GraphLayout {
  readonly width: number;
  readonly height: number;
  /** By node: the middle of its top side. */
  readonly nodes: readonly Point[];
  /** By edge: its start, the places that it passes, and its end. */
  readonly edges: readonly (readonly Point[])[];
}

const rowGap = 30;
const columnGap = 24;
const passWidth = 8;
const sweeps = 8;
/** Beyond so many places on the way, long edges go straight. */
const mostPasses = 20_000;

/** What stands in a row: a node or a place that edges pass. */
interface Item {
  readonly row: number;
  readonly width: number;
  x: number;
  readonly above: Item[];
  readonly below: Item[];
}

/** Lays a graph out. Edges lead from lower indexes to higher ones. */
export function layOutGraph(sizes: readonly NodeSize[], edges: readonly Edge[]): GraphLayout {
  const rowOf = rowsOf(sizes.length, edges);
  const items = sizes.map(
    ({ width }, node): Item => ({ row: elementAt(rowOf, node), width, x: 0, above: [], below: [] }),
  );
  const all = [...items];
  /** By source: the places that its edges pass, from the row below it on. */
  const passes = new Map<number, Item[]>();
  const length = edges.reduce(
    (sum, { from, to }) => sum + Math.max(0, elementAt(rowOf, to) - elementAt(rowOf, from) - 1),
    0,
  );
  const join = (above: Item, below: Item) => {
    above.below.push(below);
    below.above.push(above);
  };
  for (const { from, to } of edges) {
    const chain = passes.get(from) ?? [];
    passes.set(from, chain);
    const needed = length > mostPasses ? 0 : elementAt(rowOf, to) - elementAt(rowOf, from) - 1;
    while (chain.length < needed) {
      const pass: Item = {
        row: elementAt(rowOf, from) + 1 + chain.length,
        width: passWidth,
        x: 0,
        above: [],
        below: [],
      };
      join(chain.at(-1) ?? elementAt(items, from), pass);
      chain.push(pass);
      all.push(pass);
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
  const left = all.reduce((least, { x, width }) => Math.min(least, x - width / 2), 0);
  const right = all.reduce((most, { x, width }) => Math.max(most, x + width / 2), 0);
  const heights = rows.map(() => 0);
  sizes.forEach(({ height }, node) => {
    const row = elementAt(rowOf, node);
    heights[row] = Math.max(elementAt(heights, row), height);
  });
  const tops = heights.map(() => 0);
  for (let row = 1; row < tops.length; row++)
    tops[row] = elementAt(tops, row - 1) + elementAt(heights, row - 1) + rowGap;
  const at = ({ x, row }: Item, down: number): Point => ({ x: x - left, y: elementAt(tops, row) + down });
  return {
    width: right - left,
    height: (tops.at(-1) ?? 0) + (heights.at(-1) ?? 0),
    nodes: items.map((item) => at(item, 0)),
    edges: edges.map(({ from, to }) => {
      const chain = passes.get(from)?.slice(0, Math.max(0, elementAt(rowOf, to) - elementAt(rowOf, from) - 1)) ?? [];
      const middle = chain.flatMap((pass) => [at(pass, 0), at(pass, elementAt(heights, pass.row))]);
      return [at(elementAt(items, from), elementAt(sizes, from).height), ...middle, at(elementAt(items, to), 0)];
    }),
  };
}

function rowsOf(count: number, edges: readonly Edge[]): number[] {
  const sources: number[][] = Array.from({ length: count }, () => []);
  for (const { from, to } of edges) elementAt(sources, to).push(from);
  const rows: number[] = [];
  sources.forEach((before, node) => {
    rows[node] = before.reduce((row, source) => Math.max(row, elementAt(rows, source) + 1), 0);
  });
  return rows;
}

/** Puts the items of a row side by side in their order. */
function pack(row: readonly Item[]): void {
  let x = 0;
  for (const item of row) {
    item.x = x + item.width / 2;
    x += item.width + columnGap;
  }
  for (const item of row) item.x -= (x - columnGap) / 2;
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
    pack(row);
  }
}

/** Moves items towards their neighbours without changing the order: the mean of packing from the left and from the right. */
function shift(rows: readonly Item[][], down: boolean): void {
  for (const row of rows) {
    const wishes = row.map((item) => wish(item, down));
    const apart = (place: number) => (elementAt(row, place).width + elementAt(row, place + 1).width) / 2 + columnGap;
    const fromLeft = [...wishes];
    for (let place = 1; place < row.length; place++) {
      fromLeft[place] = Math.max(elementAt(fromLeft, place), elementAt(fromLeft, place - 1) + apart(place - 1));
    }
    const fromRight = [...wishes];
    for (let place = row.length - 2; place >= 0; place--) {
      fromRight[place] = Math.min(elementAt(fromRight, place), elementAt(fromRight, place + 1) - apart(place));
    }
    row.forEach((item, place) => {
      item.x = (elementAt(fromLeft, place) + elementAt(fromRight, place)) / 2;
    });
  }
}
