/**
 * Images as kernels walk them. The HAL stores them as [batch, height, width, channel] (NHWC) or, if an operation's
 * layout operand is true, as [batch, channel, height, width] (NCHW). Kernels read NHWC and write at steps that fit either.
 */
import type { Filled, Phase } from "../phases.ts";
import { extentProduct } from "../shape.ts";
import type { Tensor } from "../tensor.ts";
import { imageAxes } from "../window.ts";
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

/** The image in a tensor, less the zero point. */
export function readImage(
  tensor: Pick<Tensor, "data" | "dimensions" | "zeroPoint">,
  nchw: boolean,
): Image & Filled<Float64Array> {
  const dimensions = imageDimensions(imageLayout(tensor.dimensions, nchw), false);
  return { ...imageLayout(dimensions, false), ...channelsLast(widen(tensor), tensor.dimensions, nchw) };
}

/** The elements of an image tensor in the order of NHWC: the same array if that is its layout. */
export function channelsLast(
  source: Filled<Float64Array>,
  dimensions: readonly number[],
  nchw: boolean,
): Filled<Float64Array> {
  if (!nchw) return source;
  const { channels, channelStep: pixels } = imageLayout(dimensions, nchw);
  const result = new Float64Array(source.data.length);
  const phase: Phase = {
    units: result.length,
    compute: (first, end) => moveChannels(source.data, channels, pixels, result, first, end),
  };
  return { data: result, phases: [...source.phases, phase] };
}

/** result[batch, pixel, channel] = data[batch, channel, pixel], for the elements [first, end) of `data`. */
function moveChannels(
  data: Float64Array,
  channels: number,
  pixels: number,
  result: Float64Array,
  first: number,
  end: number,
): void {
  for (let from = first; from < end; ) {
    const plane = Math.floor(from / pixels);
    const [batch, channel] = [Math.floor(plane / channels), plane % channels];
    const last = Math.min((plane + 1) * pixels, end);
    let to = (batch * pixels + (from % pixels)) * channels + channel;
    for (; from < last; from++, to += channels) result[to] = data[from];
  }
}
