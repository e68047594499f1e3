/**
 * The cells under a window, gathered into one contiguous patch: a step that dense convolutions share.
 */
import type { Padding } from "../window.ts";
import type { Image } from "./_image.ts";

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
 * Copies the cells under the window at output (y, x), channels [firstChannel, firstChannel + depth), into `patch`, with 0 for cells beyond
 * the border.
 */
export function gather(
  image: Image,
  { dimensions: [, filterHeight, filterWidth, depth] }: Filters,
  sliding: Sliding,
  batch: number,
  y: number,
  x: number,
  firstChannel: number,
  patch: Float64Array,
): void {
  const { data, height, width } = image;
  const top = y * sliding.strideHeight - sliding.paddingTop;
  const left = x * sliding.strideWidth - sliding.paddingLeft;
  let to = 0;
  for (let i = 0; i < filterHeight; i++) {
    const row = top + i * sliding.dilationHeight;
    for (let j = 0; j < filterWidth; j++) {
      const column = left + j * sliding.dilationWidth;
      const isInside = row >= 0 && row < height && column >= 0 && column < width;
      let from = batch * image.batchStep + row * image.rowStep + column * image.pixelStep + firstChannel;
      for (let c = 0; c < depth; c++) patch[to++] = isInside ? data[from++] : 0;
    }
  }
}
