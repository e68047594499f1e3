/**
 * The loop of depthwise convolutions: every output channel sees one input channel.
 */
import type { Phase } from "../phases.ts";
import type { Store } from "./_accumulator.ts";
import type { Image, ImageLayout } from "./_image.ts";
import type { Filters, Sliding } from "./_patches.ts";

/**
 * output[b, y, x, c·multiplier + q] = bias[c·multiplier + q]
 *   + Σ image[b, y·stride + i·dilation − padding, …, c] · filter[0, i, j, c·multiplier + q]
 */
export function convolveDepthwise(
  image: Image,
  filters: Filters,
  multiplier: number,
  bias: Float64Array,
  output: ImageLayout,
  sliding: Sliding,
  store: Store,
): Phase {
  const [, height, width, channels] = filters.dimensions;
  const sums = new Float64Array(channels);
  return {
    units: output.batches * output.height * output.width,
    cost: (height * width + 1) * (channels + 1),
    apart: true,
    compute(first, end) {
      for (let pixel = first; pixel < end; pixel++) {
        const row = Math.floor(pixel / output.width);
        const [batch, y, x] = [Math.floor(row / output.height), row % output.height, pixel % output.width];
        sums.set(bias);
        addWindow(image, filters, multiplier, sliding, batch, y, x, sums);
        store(
          sums,
          0,
          channels,
          batch * output.batchStep + y * output.rowStep + x * output.pixelStep,
          output.channelStep,
        );
      }
    },
  };
}

/** Adds the products of all cells of the window at output (y, x). */
function addWindow(
  image: Image,
  filters: Filters,
  multiplier: number,
  sliding: Sliding,
  batch: number,
  y: number,
  x: number,
  sums: Float64Array,
): void {
  const [, height, width, channels] = filters.dimensions;
  const top = y * sliding.strideHeight - sliding.paddingTop;
  const left = x * sliding.strideWidth - sliding.paddingLeft;
  for (let i = 0; i < height; i++) {
    const row = top + i * sliding.dilationHeight;
    if (row < 0 || row >= image.height) continue;
    for (let j = 0; j < width; j++) {
      const column = left + j * sliding.dilationWidth;
      if (column < 0 || column >= image.width) continue;
      const from = batch * image.batchStep + row * image.rowStep + column * image.pixelStep;
      accumulate(image.data, from, filters.data, (i * width + j) * channels, multiplier, sums);
    }
  }
}

/** Adds one filter cell's products: each input channel meets `multiplier` filter channels, in most models one. */
function accumulate(
  data: Float64Array,
  from: number,
  filter: Float64Array,
  at: number,
  multiplier: number,
  sums: Float64Array,
): void {
  if (multiplier === 1) {
    for (let channel = 0; channel < sums.length; channel++)
      sums[channel] += data[from + channel] * filter[at + channel];
    return;
  }
  for (let channel = 0; channel < sums.length; ) {
    const value = data[from++];
    for (const end = channel + multiplier; channel < end; channel++) sums[channel] += value * filter[at + channel];
  }
}
