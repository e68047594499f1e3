/** Constants in the order in which kernels read them. */
import type { Window } from "./plan.ts";

/** A matrix by rows: `at(k, n)` is the weight of depth k and column n. */
export interface Matrix {
  readonly depth: number;
  readonly columns: number;
  at(depth: number, column: number): number;
}

/**
 * Weights of a product in panels of `4 · vectors` columns, the last one filled with 0. Floats: for each k the columns of the panel. Integers: for
 * each pair of k, and each column, the weights of both; an odd depth is filled with 0.
 */
export function packPanels(
  { depth, columns, at }: Matrix,
  vectors: number,
  isPaired: boolean,
): Float32Array | Int16Array {
  const width = 4 * vectors;
  const panels = Math.ceil(columns / width);
  const together = isPaired ? 2 : 1;
  const turns = Math.ceil(depth / together);
  const packed = isPaired ? new Int16Array(panels * turns * width * 2) : new Float32Array(panels * turns * width);
  let place = 0;
  for (let panel = 0; panel < panels; panel++) {
    for (let turn = 0; turn < turns; turn++) {
      for (let lane = 0; lane < width; lane++) {
        const column = panel * width + lane;
        for (let part = 0; part < together; part++, place++) {
          const k = turn * together + part;
          if (column < columns && k < depth) packed[place] = at(k, column);
        }
      }
    }
  }
  return packed;
}

/** Channels that the kernel of depthwise convolutions computes at once. */
export function depthwiseChannels(isPaired: boolean): number {
  return isPaired ? 8 : 4;
}

/** How many vectors of weights it reads for four channels. */
export function depthwiseTurns({ height, width }: Pick<Window, "height" | "width">, isPaired: boolean): number {
  return isPaired ? Math.ceil((height * width) / 2) : height * width;
}

/**
 * Weights of a depthwise convolution [taps, channels] in blocks of channels. Floats: for each cell its channels. Integers: for each pair of cells,
 * and each channel, the weights of both.
 */
export function packDepthwise(
  { depth: taps, columns: channels, at }: Matrix,
  isPaired: boolean,
): Float32Array | Int16Array {
  const width = depthwiseChannels(isPaired);
  const together = isPaired ? 2 : 1;
  const turns = Math.ceil(taps / together);
  const blocks = Math.ceil(channels / width);
  const length = blocks * turns * width * together;
  const packed = isPaired ? new Int16Array(length) : new Float32Array(length);
  let place = 0;
  for (let block = 0; block < blocks; block++) {
    for (let turn = 0; turn < turns; turn++) {
      for (let lane = 0; lane < width; lane++) {
        const channel = block * width + lane;
        for (let part = 0; part < together; part++, place++) {
          const tap = turn * together + part;
          if (channel < channels && tap < taps) packed[place] = at(tap, channel);
        }
      }
    }
  }
  return packed;
}
