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

/**
 * Weights of a product in panels of `4 · vectors` columns, the last one filled with 0. Floats: for each k the columns of the panel. Integers: for
 * each pair of k, and each column, the weights of both; an odd depth is filled with 0.
 */
export function packPanels(matrix: Matrix, vectors: number, isPaired: boolean): Float32Array | Int16Array {
  return pack(matrix, 4 * vectors, isPaired);
}

/** For each block of columns, for each k or pair of k, for each column, its weights. */
function pack(
  { depth, columns, data, depthStep, columnStep, zeroPoint }: Matrix,
  width: number,
  isPaired: boolean,
): Float32Array | Int16Array {
  const together = isPaired ? 2 : 1;
  const turns = Math.ceil(depth / together);
  const block = turns * width * together;
  const length = Math.ceil(columns / width) * block;
  const packed = isPaired ? new Int16Array(length) : new Float32Array(length);
  for (let column = 0; column < columns; column++) {
    const lane = column % width;
    const start = ((column - lane) / width) * block + lane * together;
    let from = column * columnStep;
    for (let k = 0; k < depth; k++, from += depthStep) {
      const part = isPaired ? k & 1 : 0;
      const turn = isPaired ? k >> 1 : k;
      packed[start + turn * width * together + part] = (data[from] ?? 0) - zeroPoint;
    }
  }
  return packed;
}

/** Channels that the kernel of depthwise convolutions computes at once. */
export function depthwiseChannels(isPaired: boolean): number {
  return isPaired ? 8 : 4;
}

/** Number of weight vectors that it reads for four channels. */
export function depthwiseTurns({ height, width }: Pick<Window, "height" | "width">, isPaired: boolean): number {
  return isPaired ? Math.ceil((height * width) / 2) : height * width;
}

/**
 * Weights of a depthwise convolution [taps, channels] in blocks of channels. Floats: for each cell its channels. Integers: for each pair of cells,
 * and each channel, the weights of both.
 */
export function packDepthwise(matrix: Matrix, isPaired: boolean): Float32Array | Int16Array {
  return pack(matrix, depthwiseChannels(isPaired), isPaired);
}
