/**
 * The loop of transposed convolutions: every input element spreads a filter over the output.
 */
import { ensure } from "../fail.ts";
import type { Padding } from "../window.ts";
import type { Store } from "./_accumulator.ts";
import { type Filters, WORK_BETWEEN_PAUSES } from "./_convolution.ts";
import type { Image, ImageLayout } from "./_image.ts";

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
export function* spread(
  image: Image,
  filters: Filters,
  bias: Float64Array,
  output: ImageLayout,
  padded: Padding & { readonly strideWidth: number; readonly strideHeight: number },
  store: Store,
): Generator<void, void> {
  const [, filterHeight, filterWidth] = filters.dimensions;
  const { strideWidth, strideHeight, paddingTop, paddingLeft } = padded;
  const sums = new Float64Array(bias.length);
  let work = 0;
  for (let batch = 0; batch < output.batches; batch++) {
    for (let y = 0; y < output.height; y++) {
      for (let x = 0; x < output.width; x++) {
        sums.set(bias);
        for (let i = 0; i < filterHeight; i++) {
          const row = (y + paddingTop - i) / strideHeight;
          if (!Number.isInteger(row) || row < 0 || row >= image.height) continue;
          for (let j = 0; j < filterWidth; j++) {
            const column = (x + paddingLeft - j) / strideWidth;
            if (!Number.isInteger(column) || column < 0 || column >= image.width) continue;
            const from = batch * image.batchStep + row * image.rowStep + column * image.pixelStep;
            accumulate(image, from, filters, i, j, sums);
            work += sums.length * image.channels;
          }
          work += filterWidth + sums.length;
          if (work > WORK_BETWEEN_PAUSES) {
            work = 0;
            yield;
          }
        }
        const start = batch * output.batchStep + y * output.rowStep + x * output.pixelStep;
        store(sums, 0, sums.length, start, output.channelStep);
      }
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
