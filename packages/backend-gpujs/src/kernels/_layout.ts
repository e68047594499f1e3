/** The layout of threads over the elements that they compute. */
import { elementCount, extentProduct } from "@nnhal/operations";
import type { Machine, Width } from "../machine/machine.ts";
import { type Quotient, ravel, unravel } from "./_index.ts";

/** The properties of a machine that layouts depend on. */
export type LayoutTarget = Pick<Machine, "grids" | "block" | "groups">;

/** The positions of a thread as code. */
export const thread = { x: "this.thread.x", y: "this.thread.y", z: "this.thread.z" };

/** The fewest rows for threads that compute groups of columns. */
export const LEAST_ROWS = 8;

/** The most threads along an axis whose float32 index can be divided; half is added to it. */
export const MOST_ALONG = 2 ** 23;

/** The most blocks of threads of WebGPU along one axis. */
const MOST_THREADS = 65535;

/** A layout of threads, and the code of a thread's position, each an operand: coordinates and indexes count groups of `width` elements. */
export interface Layout {
  readonly threads: readonly number[];
  readonly at: readonly string[];
  readonly row: string;
  readonly flat: string;
  readonly groups: number;
}

/** The threads that compute a value with these dimensions, `width` elements each. */
export function layOut(dimensions: readonly number[], width: Width, target: LayoutTarget, quotient: Quotient): Layout {
  const layout = prefer(dimensions, width, target, quotient);
  const isDivisible = layout.threads.every((extent) => extent <= MOST_ALONG);
  return isDivisible || !target.grids
    ? layout
    : foldAxes(dimensions, width, quotient, Math.min(MOST_ALONG, MOST_THREADS * target.block[0]));
}

function prefer(dimensions: readonly number[], width: Width, target: LayoutTarget, quotient: Quotient): Layout {
  if (width === 4 && target.groups && extentProduct(dimensions, 0, dimensions.length - 1) >= LEAST_ROWS) {
    return inGroups(dimensions, quotient);
  }
  const grid = inGrid(dimensions, width, quotient);
  return !target.grids || isWasteful(grid.threads, target.block) ? inOneRow(dimensions, width, quotient) : grid;
}

/** Returns whether more than a fifth of the threads in the blocks of a grid would be idle. */
function isWasteful([x, y = 1]: readonly number[], [width, height]: readonly [number, number]): boolean {
  const filled = Math.ceil(x / width) * width * Math.ceil(y / height) * height;
  return x * y < 0.8 * filled;
}

/** All threads in one row. */
export function inOneRow(dimensions: readonly number[], width: Width, quotient: Quotient): Layout {
  const extents = dimensions.map((extent, axis) => (axis === dimensions.length - 1 ? extent / width : extent));
  const row = quotient(thread.x, extents[extents.length - 1] ?? 1);
  return { threads: [elementCount(extents)], at: unravel(thread.x, extents, quotient), row, flat: thread.x, groups: 1 };
}

/** The last axis is x, the one before y, the others z. If z is too large for a GPU, y is all axes except the last. */
function inGrid(dimensions: readonly number[], width: Width, quotient: Quotient): Layout {
  const last = dimensions.length - 1;
  const x = last < 0 ? 1 : dimensions[last] / width;
  const alone = { row: "0", flat: thread.x, groups: 1 };
  if (last < 1) return { threads: [x], at: [thread.x].slice(0, dimensions.length), ...alone };
  const isDeep = extentProduct(dimensions, 0, last - 1) > MOST_THREADS;
  const outer = dimensions.slice(0, isDeep ? last : last - 1);
  const inner = isDeep ? [] : [thread.y];
  const y = isDeep ? elementCount(outer) : dimensions[last - 1];
  const z = isDeep ? 1 : elementCount(outer);
  const threads = [x, y, z].slice(0, z > 1 ? 3 : y > 1 ? 2 : 1);
  const at = [...unravel(isDeep ? thread.y : thread.z, outer, quotient), ...inner, thread.x];
  const row = z > 1 ? ravel([thread.y, thread.z], [1, y]) : y > 1 ? thread.y : "0";
  return { threads, at, row, flat: ravel([thread.x, row], [1, x]), groups: 1 };
}

/**
 * Threads along two or three axes. Each combines as many axes of the value as have up to `most` threads together. An axis that combines
 * only one may have more threads, since its index is not divided.
 */
export function foldAxes(dimensions: readonly number[], width: Width, quotient: Quotient, most: number): Layout {
  const last = (dimensions[dimensions.length - 1] ?? 1) / width;
  const levels: number[][] = [[]];
  for (const extent of [...dimensions.slice(0, -1), last].reverse()) {
    const count = elementCount(levels[levels.length - 1]);
    if (count > 1 && count * extent > most && levels.length < 3) levels.push([]);
    levels[levels.length - 1].unshift(extent);
  }
  const threads = levels.map(elementCount);
  const [x, y = 1] = threads;
  const names = [thread.x, thread.y, thread.z].slice(0, threads.length);
  const at = levels.map((level, place) => unravel(names[place], level, quotient)).reverse();
  const rows = [x === last ? "0" : quotient(thread.x, last), ...names.slice(1)];
  const row = ravel(rows, [1, x / last, (x / last) * y].slice(0, names.length));
  const flat = ravel(names, [1, x, x * y].slice(0, names.length));
  return { threads, at: at.flat(), row, flat, groups: 1 };
}

/** Adjacent rows are adjacent threads, along one axis if their number is nearly a multiple of four; groups of columns are separate. */
function inGroups(dimensions: readonly number[], quotient: Quotient): Layout {
  const outer = dimensions.slice(0, -1);
  const rows = elementCount(outer);
  const groups = dimensions[dimensions.length - 1] / 4;
  const extent = outer[outer.length - 1];
  if (extent < rows && (extent % 4 === 0 || extent > 12)) {
    const row = ravel([thread.y, thread.x], [extent, 1]);
    const at = [...unravel(thread.y, outer.slice(0, -1), quotient), thread.x, thread.z];
    return { threads: [extent, rows / extent, groups], at, row, flat: ravel([row, thread.z], [groups, 1]), groups };
  }
  const at = [...unravel(thread.x, outer, quotient), thread.y];
  const flat = ravel([thread.x, thread.y], [groups, 1]);
  return { threads: [rows, groups], at, row: thread.x, flat, groups };
}
