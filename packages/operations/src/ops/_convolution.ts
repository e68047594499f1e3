/**
 * The loop of dense convolutions, grouped or not: the inputs under the window are gathered into one contiguous patch,
 * with 0 for cells beyond the border, and each filter is a dot product with it. Two neighbours in a row are computed together.
 */
import { ensure } from "../fail.ts";
import { dilatedExtent, type Padding, windowCount } from "../window.ts";
import type { Store } from "./_accumulator.ts";
import { type Image, type ImageLayout, imageDimensions, imageLayout } from "./_image.ts";

/** Multiply-adds between two pauses of a long kernel: a few milliseconds, even before the loop is compiled. */
export const WORK_BETWEEN_PAUSES = 1 << 18;

/** Stride and dilation of a window. */
export interface Sliding extends Padding {
  readonly strideWidth: number;
  readonly strideHeight: number;
  readonly dilationWidth: number;
  readonly dilationHeight: number;
}

/** Filters [outputs, height, width, inputs], widened. */
export interface Filters {
  readonly data: Float64Array;
  readonly dimensions: readonly number[];
}

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
 * the image.
 */
export function* convolve(
  image: Image,
  filters: Filters,
  bias: Float64Array,
  output: ImageLayout,
  sliding: Sliding,
  groups: number,
  store: Store,
): Generator<void, void> {
  const [count, height, width, depth] = filters.dimensions;
  const length = height * width * depth;
  const [patch, nextPatch] = [new Float64Array(length), new Float64Array(length)];
  const [sums, nextSums] = [new Float64Array(count), new Float64Array(count)];
  const perGroup = count / groups;
  const block = blockOf(2 * length);
  let work = 0;
  for (let batch = 0; batch < output.batches; batch++) {
    for (let y = 0; y < output.height; y++) {
      for (let x = 0; x < output.width; x += 2) {
        const hasNext = x + 1 < output.width;
        for (let group = 0; group < groups; group++) {
          yield* gather(image, filters, sliding, batch, y, x, group * depth, patch);
          if (hasNext) yield* gather(image, filters, sliding, batch, y, x + 1, group * depth, nextPatch);
          const end = (group + 1) * perGroup;
          for (let first = group * perGroup; first < end; first += block) {
            const last = Math.min(first + block, end);
            if (hasNext) multiplyTwo(patch, nextPatch, filters.data, bias, first, last, sums, nextSums);
            else multiply(patch, filters.data, bias, first, last, sums);
            work += 2 * (last - first + 1) * (length + 1);
            if (work > WORK_BETWEEN_PAUSES) {
              work = 0;
              yield;
            }
          }
        }
        const start = batch * output.batchStep + y * output.rowStep + x * output.pixelStep;
        store(sums, 0, count, start, output.channelStep);
        if (hasNext) store(nextSums, 0, count, start + output.pixelStep, output.channelStep);
      }
    }
  }
}

/** Returns how many filters of a length are computed between two pauses. */
export function blockOf(length: number): number {
  return Math.max(4, Math.floor(WORK_BETWEEN_PAUSES / length));
}

/** Copies the cells under the window at output (y, x), channels [firstChannel, firstChannel + depth), into `patch`. */
function* gather(
  image: Image,
  filters: Filters,
  sliding: Sliding,
  batch: number,
  y: number,
  x: number,
  firstChannel: number,
  patch: Float64Array,
): Generator<void, void> {
  const [, filterHeight, filterWidth, depth] = filters.dimensions;
  const { data, height, width } = image;
  const top = y * sliding.strideHeight - sliding.paddingTop;
  const left = x * sliding.strideWidth - sliding.paddingLeft;
  const isLarge = patch.length > WORK_BETWEEN_PAUSES;
  let to = 0;
  for (let i = 0; i < filterHeight; i++) {
    const row = top + i * sliding.dilationHeight;
    for (let j = 0; j < filterWidth; j++) {
      const column = left + j * sliding.dilationWidth;
      if (row < 0 || row >= height || column < 0 || column >= width) {
        for (let c = 0; c < depth; c++) patch[to++] = 0;
        continue;
      }
      let from = batch * image.batchStep + row * image.rowStep + column * image.pixelStep + firstChannel;
      for (let c = 0; c < depth; c++) patch[to++] = data[from++];
    }
    if (isLarge) yield;
  }
}

/**
 * sums[o] = bias[o] + patch · filter o, for the filters [first, end). Four filters share a pass over the patch: their
 * sums do not wait for each other.
 */
export function multiply(
  patch: Float64Array,
  filters: Float64Array,
  bias: Float64Array,
  first: number,
  end: number,
  sums: Float64Array,
): void {
  const length = patch.length;
  let filter = first;
  for (; filter + 4 <= end; filter += 4) {
    let at = filter * length;
    let sum0 = bias[filter];
    let sum1 = bias[filter + 1];
    let sum2 = bias[filter + 2];
    let sum3 = bias[filter + 3];
    for (let index = 0; index < length; index++, at++) {
      const value = patch[index];
      sum0 += value * filters[at];
      sum1 += value * filters[at + length];
      sum2 += value * filters[at + 2 * length];
      sum3 += value * filters[at + 3 * length];
    }
    sums[filter] = sum0;
    sums[filter + 1] = sum1;
    sums[filter + 2] = sum2;
    sums[filter + 3] = sum3;
  }
  for (; filter < end; filter++) {
    let at = filter * length;
    let sum = bias[filter];
    for (let index = 0; index < length; index++) sum += patch[index] * filters[at++];
    sums[filter] = sum;
  }
}

/** `multiply` of two patches at once, which reads each filter once for both. */
function multiplyTwo(
  patch: Float64Array,
  nextPatch: Float64Array,
  filters: Float64Array,
  bias: Float64Array,
  first: number,
  end: number,
  sums: Float64Array,
  nextSums: Float64Array,
): void {
  const length = patch.length;
  let filter = first;
  for (; filter + 4 <= end; filter += 4) {
    let at = filter * length;
    let sum0 = bias[filter];
    let sum1 = bias[filter + 1];
    let sum2 = bias[filter + 2];
    let sum3 = bias[filter + 3];
    let next0 = sum0;
    let next1 = sum1;
    let next2 = sum2;
    let next3 = sum3;
    for (let index = 0; index < length; index++, at++) {
      const value = patch[index];
      const next = nextPatch[index];
      const filter0 = filters[at];
      const filter1 = filters[at + length];
      const filter2 = filters[at + 2 * length];
      const filter3 = filters[at + 3 * length];
      sum0 += value * filter0;
      sum1 += value * filter1;
      sum2 += value * filter2;
      sum3 += value * filter3;
      next0 += next * filter0;
      next1 += next * filter1;
      next2 += next * filter2;
      next3 += next * filter3;
    }
    sums[filter] = sum0;
    sums[filter + 1] = sum1;
    sums[filter + 2] = sum2;
    sums[filter + 3] = sum3;
    nextSums[filter] = next0;
    nextSums[filter + 1] = next1;
    nextSums[filter + 2] = next2;
    nextSums[filter + 3] = next3;
  }
  if (filter < end) {
    multiply(patch, filters, bias, filter, end, sums);
    multiply(nextPatch, filters, bias, filter, end, nextSums);
  }
}
