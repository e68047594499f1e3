/**
 * Products of stacks of matrices.
 */
import type { Filled, Phase } from "../phases.ts";
import type { TensorInfo } from "../tensor.ts";
import { filtersOfUnit, multiply } from "./_inner-products.ts";
import { permute } from "./_rearrange.ts";

/** A stack of matrices whose rows are multiplied with rows. */
export interface Matrices {
  readonly batches: readonly number[];
  readonly rows: number;
  readonly depth: number;
  /** True if the tensor has the transposed matrices. */
  readonly isTransposed: boolean;
}

/** The matrices in the last two axes of a tensor. */
export function matricesOf({ dimensions }: TensorInfo, isTransposed: boolean): Matrices {
  const [height, width] = dimensions.slice(-2);
  const [rows, depth] = isTransposed ? [width, height] : [height, width];
  return { batches: dimensions.slice(0, -2), rows, depth, isTransposed };
}

/** The elements with the rows of each matrix one after the other. */
export function rowsOfMatrices(
  values: Filled<Float64Array>,
  { rows, depth, isTransposed }: Matrices,
): Filled<Float64Array> {
  const { length } = values.data;
  if (!isTransposed || length === 0) return values;
  const data = new Float64Array(length);
  const transpose = permute(values.data, [length / (rows * depth), depth, rows], [0, 2, 1], data);
  return { data, phases: [...values.phases, transpose] };
}

/** The operands of a product whose sums are stored row by row. */
export interface BatchProduct {
  /** Rows of the left matrices, and those of the transposed right ones, of `depth` elements each. */
  readonly lefts: Float64Array;
  readonly rights: Float64Array;
  readonly depth: number;
  /** Rows of a matrix of the result, and its columns. */
  readonly rows: number;
  readonly columns: number;
  /** For each matrix of the result the left and the right one, by their places. */
  readonly leftBatches: ArrayLike<number>;
  readonly rightBatches: ArrayLike<number>;
  /** True for integers of 32 bits, which wrap: their products are more than a float64 holds. */
  readonly wraps: boolean;
  /** Stores the sums of the columns [first, end) at `start` + column. `leftRow`: the row of `lefts`. */
  store(sums: Float64Array, first: number, end: number, start: number, leftRow: number): void;
}

/** Computes a product. Its units are parts of rows. */
export function multiplyBatches(product: BatchProduct): Phase {
  const { lefts, rights, depth, rows, columns, leftBatches, rightBatches, wraps, store } = product;
  const times = wraps ? multiplyWrapping : multiply;
  const zeros = new Float64Array(columns);
  const sums = new Float64Array(columns);
  const block = filtersOfUnit(Math.max(columns, 1), depth + 1);
  const blocks = Math.ceil(columns / block);
  return {
    units: leftBatches.length * rows * blocks,
    cost: (block + 1) * (depth + 1),
    apart: true,
    compute(first, end) {
      for (let unit = first; unit < end; unit++) {
        const from = (unit % blocks) * block;
        const to = Math.min(from + block, columns);
        const row = Math.floor(unit / blocks);
        const batch = Math.floor(row / rows);
        const leftRow = leftBatches[batch] * rows + (row % rows);
        const filters = rights.subarray(rightBatches[batch] * columns * depth);
        times(lefts.subarray(leftRow * depth, (leftRow + 1) * depth), filters, zeros, from, to, sums);
        store(sums, from, to, row * columns, leftRow);
      }
    },
  };
}

/** As `multiply`, for 32-bit integers that wrap. */
function multiplyWrapping(
  patch: Float64Array,
  filters: Float64Array,
  bias: Float64Array,
  first: number,
  end: number,
  sums: Float64Array,
): void {
  for (let filter = first; filter < end; filter++) {
    let at = filter * patch.length;
    let sum = bias[filter];
    for (let index = 0; index < patch.length; index++) sum = (sum + Math.imul(patch[index], filters[at++])) | 0;
    sums[filter] = sum;
  }
}
