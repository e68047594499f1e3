/** Images of either layout: extents, the distances between elements, and the coordinates of an element as code. */
import { type ImageLayout, imageAxes, imageLayout } from "@nnhal/operations";

/** An image as kernels read it. */
export interface Image extends ImageLayout {
  /** True if the channels of a cell are adjacent. */
  readonly channelsLast: boolean;
}

/** The image in a tensor. */
export function imageOf(dimensions: readonly number[], nchw: boolean): Image {
  return { ...imageLayout(dimensions, nchw), channelsLast: !nchw };
}

/** The same image with steps that count cells, not elements. */
export function cellsOf(image: Image): Image {
  const { height, width } = image;
  return { ...image, batchStep: height * width, rowStep: width, pixelStep: 1 };
}

/** The coordinates of an element of an image, as code. */
export interface Place {
  readonly batch: string;
  readonly row: string;
  readonly column: string;
  readonly channel: string;
}

/** The coordinates of an element by name. */
export function placeOf(at: readonly string[], nchw: boolean): Place {
  const axes = imageAxes(nchw);
  return { batch: at[axes.batch], row: at[axes.height], column: at[axes.width], channel: at[axes.channel] };
}
