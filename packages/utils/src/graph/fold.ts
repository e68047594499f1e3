/**
 * Folds the rows of a graph into columns, side by side, where few edges cross the border. Those that do are led below their
 * column, up beside it, and into the next.
 */
import { elementAt } from "@nnhal/operations";

/** A point in the picture. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** An item of a row: a node, or a point that edges pass through. */
export interface Item {
  readonly row: number;
  readonly width: number;
  /** Of its middle. */
  x: number;
  readonly above: Item[];
  readonly below: Item[];
}

/** Between the bottom of a row and the top of the next. */
export const rowGap = 30;

/** Graphs that are not higher stay one column. */
const shortest = 3000;
/** Between lines that run side by side. */
const laneGap = 7;
/** Between the boxes of a column and the first line beside them. */
const laneMargin = 22;

/** Rows in columns. */
export interface Folded {
  readonly width: number;
  readonly height: number;
  /** A point below the middle of an item's top side. */
  at(item: Item, down: number): Point;
  /** Where an edge turns between an item and one in the next row: nowhere unless another column begins there. */
  between(above: Item, below: Item): readonly Point[];
}

/** A column: the rows from `first` on, up to `end`. */
interface Column {
  readonly first: number;
  readonly end: number;
  readonly left: number;
  readonly right: number;
  readonly height: number;
  /** Items of the last row whose edges lead on into the next column. */
  readonly leaving: readonly Item[];
}

/** Folds rows with the given heights. `proportion`: the width of the result by its height. */
export function fold(rows: readonly (readonly Item[])[], heights: readonly number[], proportion: number): Folded {
  const columns = columnsOf(rows, heights, proportion);
  const tops: number[] = [];
  const columnOf: number[] = [];
  const lefts: number[] = [];
  const lanes = Math.max(0, ...columns.map(({ leaving }) => leaving.length));
  const above = lanes === 0 ? 0 : laneMargin + lanes * laneGap;
  let x = 0;
  columns.forEach(({ first, end, left, right, leaving }, column) => {
    let y = above;
    for (let row = first; row < end; row++) {
      tops[row] = y;
      columnOf[row] = column;
      y += elementAt(heights, row) + rowGap;
    }
    lefts.push(x - left);
    x += right - left + (column === columns.length - 1 ? 0 : 2 * laneMargin + leaving.length * laneGap);
  });
  const height = Math.max(0, ...columns.map((column) => column.height));
  const at = ({ x: middle, row }: Item, down: number): Point => ({
    x: middle + elementAt(lefts, elementAt(columnOf, row)),
    y: elementAt(tops, row) + down,
  });
  return {
    width: x,
    height: height + 2 * above,
    at,
    between(from, to) {
      const column = elementAt(columnOf, from.row);
      if (column === elementAt(columnOf, to.row)) return [];
      const { leaving, right, height: own } = elementAt(columns, column);
      const lane = leaving.indexOf(from);
      const bottom = above + own + laneMargin + (leaving.length - 1 - lane) * laneGap;
      const beside = right + elementAt(lefts, column) + laneMargin + (leaving.length - 1 - lane) * laneGap;
      const top = above - laneMargin - (leaving.length - 1 - lane) * laneGap;
      const { x: start } = at(from, 0);
      const { x: end } = at(to, 0);
      return [
        { x: start, y: bottom },
        { x: beside, y: bottom },
        { x: beside, y: top },
        { x: end, y: top },
      ];
    },
  };
}

function columnsOf(
  rows: readonly (readonly Item[])[],
  heights: readonly number[],
  proportion: number,
): readonly Column[] {
  const total = heights.reduce((sum, height) => sum + height + rowGap, 0) - rowGap;
  const all = extentOf(rows);
  const width = Math.max(1, all.right - all.left);
  const count = total <= shortest ? 1 : Math.max(1, Math.round(Math.sqrt((proportion * total) / width)));
  const aim = total / count;
  const columns: Column[] = [];
  let first = 0;
  while (first < rows.length) {
    const end = columns.length === count - 1 ? rows.length : bestEnd(rows, heights, first, aim);
    const part = rows.slice(first, end);
    const height = heights.slice(first, end).reduce((sum, each) => sum + each + rowGap, 0) - rowGap;
    const leaving = end === rows.length ? [] : elementAt(rows, end - 1).filter(({ below }) => below.length > 0);
    columns.push({ first, end, ...extentOf(part), height, leaving });
    first = end;
  }
  return columns;
}

/** The row behind a column: of those near the aim one that few edges cross, the lowest of them. */
function bestEnd(rows: readonly (readonly Item[])[], heights: readonly number[], first: number, aim: number): number {
  let [best, least, height] = [rows.length, Number.POSITIVE_INFINITY, 0];
  for (let row = first; row < rows.length; row++) {
    height += elementAt(heights, row) + rowGap;
    if (row > first && height > aim * 1.1) break;
    const crossing = elementAt(rows, row).filter(({ below }) => below.length > 0).length;
    if (crossing <= least || height < aim * 0.8) [best, least] = [row + 1, crossing];
  }
  return best;
}

function extentOf(rows: readonly (readonly Item[])[]): { readonly left: number; readonly right: number } {
  let [left, right] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const row of rows) {
    for (const { x, width } of row) {
      left = Math.min(left, x - width / 2);
      right = Math.max(right, x + width / 2);
    }
  }
  return rows.length === 0 || left > right ? { left: 0, right: 0 } : { left, right };
}
