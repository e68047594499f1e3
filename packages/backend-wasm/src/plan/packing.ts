/** Constants in the order in which kernels read them. */
import type { Window } from "./plan.ts";

/** Weights by depth and column: that of depth k and column n is `data[k * depthStep + n * columnStep]`, less the zero point. */
export interface Matrix {
  readonly depth: number;
  readonly columns: number;
  readonly data: ArrayLike<number>;
  readonly depthStep: number;
  readonly columnStep: number;
  readonly zeroPoint: number;
}

/** The number of packed weights. */
export function packedLength(
  { depth, columns }: Pick<Matrix, "depth" | "columns">,
  width: number,
  isPaired: boolean,
): number {
  const together = isPaired ? 2 : 1;
  return Math.ceil(columns / width) * Math.ceil(depth / together) * width * together;
}

/**
 * Packs weights in panels of `width` columns, the last one filled with 0, into memory that holds 0. Floats: for each k the columns of the panel. Integers: for
 * each pair of k, and each column, the weights of both; an odd depth is filled with 0. A depthwise convolution has cells in the place of k, and channels as columns.
 * Packs the weights [first, end), counted column by column.
 */
export function packInto(
  packed: Float32Array<ArrayBufferLike> | Int16Array<ArrayBufferLike>,
  { depth, columns, data, depthStep, columnStep, zeroPoint }: Matrix,
  width: number,
  isPaired: boolean,
  first = 0,
  end = depth * columns,
): void {
  const together = isPaired ? 2 : 1;
  const block = Math.ceil(depth / together) * width * together;
  for (let next = first; next < end; ) {
    const column = Math.floor(next / depth);
    const lane = column % width;
    const start = ((column - lane) / width) * block + lane * together;
    const firstDepth = next - column * depth;
    const endDepth = Math.min(depth, firstDepth + end - next);
    let from = column * columnStep + firstDepth * depthStep;
    for (let k = firstDepth; k < endDepth; k++, from += depthStep) {
      const part = isPaired ? k & 1 : 0;
      const turn = isPaired ? k >> 1 : k;
      packed[start + turn * width * together + part] = (data[from] ?? 0) - zeroPoint;
    }
    next += endDepth - firstDepth;
  }
}

/** Turns of a product's loop over the depth. */
export function turnsOfDepth(depth: number, isPaired: boolean): number {
  return isPaired ? Math.ceil(depth / 2) : depth;
}

/** Channels that the kernel of depthwise convolutions computes at once. */
export function depthwiseChannels(isPaired: boolean, isWide: boolean): number {
  return isPaired || isWide ? 8 : 4;
}

/** Number of weight vectors that it reads for four channels. */
export function depthwiseTurns({ height, width }: Pick<Window, "height" | "width">, isPaired: boolean): number {
  return isPaired ? Math.ceil((height * width) / 2) : height * width;
}
