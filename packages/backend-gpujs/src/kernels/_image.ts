/** Images of either layout: extents, the distances between elements, and the coordinates of an element as code. */
import { extentProduct, imageAxes } from "@nnhal/operations";

/** Extents of an image, and the distances between its elements. */
export interface Image {
  readonly batches: number;
  readonly height: number;
  readonly width: number;
  readonly channels: number;
  readonly batchStep: number;
  readonly rowStep: number;
  readonly pixelStep: number;
  readonly channelStep: number;
  /** Whether the channels of a cell lie side by side. */
  readonly channelsLast: boolean;
}

/** The facts of an image tensor. */
export function imageOf(dimensions: readonly number[], nchw: boolean): Image {
  const axes = imageAxes(nchw);
  const height = dimensions[axes.height];
  const width = dimensions[axes.width];
  const channels = dimensions[axes.channel];
  const pixelStep = nchw ? 1 : channels;
  return {
    batches: dimensions[axes.batch],
    height,
    width,
    channels,
    batchStep: extentProduct(dimensions, 1),
    rowStep: width * pixelStep,
    pixelStep,
    channelStep: nchw ? height * width : 1,
    channelsLast: !nchw,
  };
}

/** The image of whose elements only cells are counted. */
export function cellsOf(image: Image): Image {
  const { height, width } = image;
  return { ...image, batchStep: height * width, rowStep: width, pixelStep: 1 };
}

/** Where an element of an image lies, as code. */
export interface Place {
  readonly batch: string;
  readonly row: string;
  readonly column: string;
  readonly channel: string;
}

/** The place of an element, of its coordinates. */
export function placeOf(at: readonly string[], nchw: boolean): Place {
  const axes = imageAxes(nchw);
  return { batch: at[axes.batch], row: at[axes.height], column: at[axes.width], channel: at[axes.channel] };
}
