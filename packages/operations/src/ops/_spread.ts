/**
 * The loop of transposed convolutions: every input element spreads a filter over the output.
 */
import { ensure } from "../fail.ts";
import type { Phase } from "../phases.ts";
import type { Padding } from "../window.ts";
import type { Store } from "./_accumulator.ts";
import type { Image, ImageLayout } from "./_image.ts";
import type { Filters } from "./_patches.ts";

/** Extent of the output of a transposed convolution along one axis. */
export function spreadExtent(
  axis: string,
  input: number,
  filter: number,
  stride: number,
  before: number,
  after: number,
): number {
  ensure(input >= 1, () => `the image's ${axis} is ${input}, less than 1`);
  ensure(filter >= 1, () => `the filter's ${axis} is ${filter}, less than 1`);
  ensure(stride >= 1, () => `the stride along the ${axis} is ${stride}, less than 1`);
  ensure(before >= 0, () => `the padding before the ${axis} is ${before}, less than 0`);
  const extent = (input - 1) * stride + filter - before - after;
  ensure(extent >= 1, () => `padding ${before} and ${after} leave nothing of the ${axis}`);
  return extent;
}

/**
 * output[b, y, x, o] = bias[o] + Σ image[b, h, w, c] · filter[o, i, j, c]
 *   over all h, i with h·stride + i − padding = y, and w, j likewise
 */
export function spread(
  image: Image,
  filters: Filters,
  bias: Float64Array,
  output: ImageLayout,
  padded: Spreading,
  store: Store,
): Phase {
  const [count, height, width, depth] = filters.dimensions;
  const { strideHeight, strideWidth } = padded;
  const cells = Math.ceil(height / strideHeight) * Math.ceil(width / strideWidth);
  const sums = new Float64Array(count);
  return {
    units: output.batches * output.height * output.width,
    cost: (cells * depth + 1) * (count + 1) + height * width,
    apart: true,
    compute(first, end) {
      for (let pixel = first; pixel < end; pixel++) {
        const row = Math.floor(pixel / output.width);
        const [batch, y, x] = [Math.floor(row / output.height), row % output.height, pixel % output.width];
        sums.set(bias);
        addCells(image, filters, padded, batch, y, x, sums);
        store(sums, 0, count, batch * output.batchStep + y * output.rowStep + x * output.pixelStep, output.channelStep);
      }
    },
  };
}

type Spreading = Padding & { readonly strideWidth: number; readonly strideHeight: number };

/** Adds the products of all input pixels that reach output (y, x). */
function addCells(
  image: Image,
  filters: Filters,
  { strideWidth, strideHeight, paddingTop, paddingLeft }: Spreading,
  batch: number,
  y: number,
  x: number,
  sums: Float64Array,
): void {
  const [, filterHeight, filterWidth] = filters.dimensions;
  for (let i = 0; i < filterHeight; i++) {
    const row = (y + paddingTop - i) / strideHeight;
    if (!Number.isInteger(row) || row < 0 || row >= image.height) continue;
    for (let j = 0; j < filterWidth; j++) {
      const column = (x + paddingLeft - j) / strideWidth;
      if (!Number.isInteger(column) || column < 0 || column >= image.width) continue;
      const from = batch * image.batchStep + row * image.rowStep + column * image.pixelStep;
      accumulate(image, from, filters, i, j, sums);
    }
  }
}

/** Adds the products of one input pixel and one cell of each filter. */
function accumulate(image: Image, from: number, filters: Filters, i: number, j: number, sums: Float64Array): void {
  const [, filterHeight, filterWidth, depth] = filters.dimensions;
  for (let channel = 0; channel < sums.length; channel++) {
    const at = ((channel * filterHeight + i) * filterWidth + j) * depth;
    let sum = sums[channel];
    for (let c = 0; c < depth; c++) sum += image.data[from + c] * filters.data[at + c];
    sums[channel] = sum;
  }
}
