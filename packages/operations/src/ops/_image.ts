/**
 * Images as kernels walk them. The HAL stores them as [batch, height, width, channel] (NHWC) or, if an operation's
 * layout operand is true, as [batch, channel, height, width] (NCHW). Kernels read NHWC and write at steps that fit either.
 */
import { extentProduct } from "../shape.ts";
import type { Tensor } from "../tensor.ts";
import { imageAxes } from "../window.ts";
import { CHUNK, pacer } from "./_chunks.ts";
import { widen } from "./_widen.ts";

/** Extents of an image tensor, and the distances between its elements. */
export interface ImageLayout {
  readonly batches: number;
  readonly height: number;
  readonly width: number;
  readonly channels: number;
  readonly batchStep: number;
  readonly rowStep: number;
  readonly pixelStep: number;
  readonly channelStep: number;
}

/** An image's elements, widened, always as NHWC. */
export interface Image extends ImageLayout {
  readonly data: Float64Array;
}

/** The layout of an image tensor. */
export function imageLayout(dimensions: readonly number[], nchw: boolean): ImageLayout {
  const axes = imageAxes(nchw);
  const width = dimensions[axes.width];
  const channels = dimensions[axes.channel];
  const pixelStep = nchw ? 1 : channels;
  return {
    batches: dimensions[axes.batch],
    height: dimensions[axes.height],
    width,
    channels,
    batchStep: extentProduct(dimensions, 1),
    rowStep: width * pixelStep,
    pixelStep,
    channelStep: nchw ? dimensions[axes.height] * width : 1,
  };
}

/** The dimensions of an image tensor of the given extents. */
export function imageDimensions(
  extents: Pick<ImageLayout, "batches" | "height" | "width" | "channels">,
  nchw: boolean,
): number[] {
  const { batches, height, width, channels } = extents;
  return nchw ? [batches, channels, height, width] : [batches, height, width, channels];
}

/** The image in a tensor, less the zero point. Pauses if it is large. */
export function* readImage(
  tensor: Pick<Tensor, "data" | "dimensions" | "zeroPoint">,
  nchw: boolean,
): Generator<void, Image> {
  const dimensions = imageDimensions(imageLayout(tensor.dimensions, nchw), false);
  const data = yield* channelsLast(yield* widen(tensor), tensor.dimensions, nchw);
  return { ...imageLayout(dimensions, false), data };
}

/** The elements of an image tensor in the order of NHWC: the same array if that is its layout. Pauses if there are many. */
export function* channelsLast(
  data: Float64Array,
  dimensions: readonly number[],
  nchw: boolean,
): Generator<void, Float64Array> {
  if (!nchw) return data;
  const { batches, channels, batchStep, channelStep } = imageLayout(dimensions, nchw);
  const result = new Float64Array(data.length);
  const isTime = pacer();
  for (let batch = 0; batch < batches; batch++) {
    for (let channel = 0; channel < channels; channel++) {
      let from = batch * batchStep + channel * channelStep;
      let to = batch * batchStep + channel;
      for (let first = 0; first < channelStep; first += CHUNK) {
        const end = Math.min(first + CHUNK, channelStep);
        for (let pixel = first; pixel < end; pixel++) {
          result[to] = data[from++];
          to += channels;
        }
        if (isTime(end - first)) yield;
      }
    }
  }
  return result;
}
