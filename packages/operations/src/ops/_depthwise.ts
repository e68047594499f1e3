/**
 * The loop of depthwise convolutions: every output channel sees one input channel.
 */
import type { Store } from "./_accumulator.ts";
import { type Filters, type Sliding, WORK_BETWEEN_PAUSES } from "./_convolution.ts";
import type { Image, ImageLayout } from "./_image.ts";

/**
 * output[b, y, x, c·multiplier + q] = bias[c·multiplier + q]
 *   + Σ image[b, y·stride + i·dilation − padding, …, c] · filter[0, i, j, c·multiplier + q]
 */
export function* convolveDepthwise(
  image: Image,
  filters: Filters,
  multiplier: number,
  bias: Float64Array,
  output: ImageLayout,
  sliding: Sliding,
  store: Store,
): Generator<void, void> {
  const [, height, width, channels] = filters.dimensions;
  const sums = new Float64Array(channels);
  let work = 0;
  for (let batch = 0; batch < output.batches; batch++) {
    for (let y = 0; y < output.height; y++) {
      const top = y * sliding.strideHeight - sliding.paddingTop;
      for (let x = 0; x < output.width; x++) {
        const left = x * sliding.strideWidth - sliding.paddingLeft;
        sums.set(bias);
        for (let i = 0; i < height; i++) {
          const row = top + i * sliding.dilationHeight;
          if (row < 0 || row >= image.height) continue;
          for (let j = 0; j < width; j++) {
            const column = left + j * sliding.dilationWidth;
            if (column < 0 || column >= image.width) continue;
            const from = batch * image.batchStep + row * image.rowStep + column * image.pixelStep;
            accumulate(image.data, from, filters.data, (i * width + j) * channels, multiplier, sums);
            work += channels;
            if (work > WORK_BETWEEN_PAUSES) {
              work = 0;
              yield;
            }
          }
        }
        const start = batch * output.batchStep + y * output.rowStep + x * output.pixelStep;
        store(sums, 0, channels, start, output.channelStep);
        work += height * width + channels;
      }
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
