/**
 * The loop of dense convolutions, grouped or not: the inputs under the window are gathered into one contiguous patch,
 * with 0 for cells beyond the border, and each filter is a dot product with it. Two neighbours in a row are computed together.
 */
import { ensure } from "../fail.ts";
import type { Phase } from "../phases.ts";
import { dilatedExtent, windowCount } from "../window.ts";
import type { Store } from "./_accumulator.ts";
import { type Image, type ImageLayout, imageDimensions, imageLayout } from "./_image.ts";
import { filtersOfUnit, multiply, multiplyTwo } from "./_inner-products.ts";
import { type Filters, gather, type Sliding } from "./_patches.ts";

/**
 * Shape of the result of sliding a [*, height, width, *] filter over an image, with `channels` channels. Of the image's
 * extents only the number of batches may be 0.
 */
export function convolvedShape(
  input: readonly number[],
  filter: readonly number[],
  channels: number,
  sliding: Sliding,
  nchw: boolean,
): number[] {
  const { batches, height, width, channels: depth } = imageLayout(input, nchw);
  ensure(depth >= 1, () => "the input has no channels");
  const heightUnder = dilatedExtent(filter[1], sliding.dilationHeight);
  const widthUnder = dilatedExtent(filter[2], sliding.dilationWidth);
  const { paddingTop, paddingBottom, paddingLeft, paddingRight, strideHeight, strideWidth } = sliding;
  const extents = {
    batches,
    height: windowCount("height", height, heightUnder, strideHeight, paddingTop, paddingBottom),
    width: windowCount("width", width, widthUnder, strideWidth, paddingLeft, paddingRight),
    channels,
  };
  return imageDimensions(extents, nchw);
}

/**
 * output[b, y, x, o] = bias[o] + Σ image[b, y·stride + i·dilation − padding, …, c] · filter[o, i, j, c]
 *
 * `groups`: the image's channels and the filters are cut into as many equal parts; part g of the output sees part g of
 * the image. A unit is two neighbours in a row of pixels, under a block of the filters of one group.
 */
export function convolve(
  image: Image,
  filters: Filters,
  bias: Float64Array,
  output: ImageLayout,
  sliding: Sliding,
  groups: number,
  store: Store,
): Phase {
  const [count, height, width, depth] = filters.dimensions;
  const length = height * width * depth;
  const perGroup = count / groups;
  const block = filtersOfUnit(perGroup, length);
  const blocks = Math.ceil(perGroup / block);
  const pairs = Math.ceil(output.width / 2);
  const [patch, nextPatch] = Array.from({ length: 2 }, () => new Float64Array(length));
  const [sums, nextSums] = Array.from({ length: 2 }, () => new Float64Array(count));
  const compute = (first: number, end: number) => {
    for (let unit = first; unit < end; unit++) {
      const group = Math.floor(unit / blocks) % groups;
      const pair = Math.floor(unit / (blocks * groups));
      const row = Math.floor(pair / pairs);
      const [batch, y, x] = [Math.floor(row / output.height), row % output.height, 2 * (pair % pairs)];
      const hasNext = x + 1 < output.width;
      if (unit === first || unit % blocks === 0) {
        gather(image, filters, sliding, batch, y, x, group * depth, patch);
        if (hasNext) gather(image, filters, sliding, batch, y, x + 1, group * depth, nextPatch);
      }
      const from = group * perGroup + (unit % blocks) * block;
      const to = Math.min(from + block, (group + 1) * perGroup);
      if (hasNext) multiplyTwo(patch, nextPatch, filters.data, bias, from, to, sums, nextSums);
      else multiply(patch, filters.data, bias, from, to, sums);
      const start = batch * output.batchStep + y * output.rowStep + x * output.pixelStep;
      store(sums, from, to, start, output.channelStep);
      if (hasNext) store(nextSums, from, to, start + output.pixelStep, output.channelStep);
    }
  };
  const units = output.batches * output.height * pairs * blocks * groups;
  return { units, cost: 2 * (block + 1) * (length + 1), apart: true, compute };
}
