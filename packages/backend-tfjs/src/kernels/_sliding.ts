/** Filters that slide over images, as tfjs supports them: its padding modes, and either strides or dilations. */
import type { KernelTensor } from "@nnhal/backend";
import {
  dilatedExtent,
  elementCount,
  type ImageLayout,
  imageLayout,
  implicitPadding,
  type Padding,
  PaddingScheme,
} from "@nnhal/operations";
import * as tf from "@tensorflow/tfjs-core";
import { ensureSize } from "./_kernel.ts";

export interface Strides {
  readonly strideWidth: number;
  readonly strideHeight: number;
}

export interface Dilations {
  readonly dilationWidth: number;
  readonly dilationHeight: number;
}

/** A filter that slides over an image. */
export interface SlidingFilter extends Strides, Dilations, Padding {
  readonly input: KernelTensor;
  readonly filter: KernelTensor;
  readonly nchw: boolean;
}

/** The padding as tfjs supports it. Any other padding is applied to the image first. */
interface Pads {
  readonly pad: "valid" | "same" | number;
  before(image: tf.Tensor4D): tf.Tensor4D;
}

function padsOf(
  padding: Padding,
  { batches, height, width, channels }: ImageLayout,
  filter: readonly number[],
  sliding: Strides & Dilations,
): Pads {
  const { paddingTop, paddingBottom, paddingLeft, paddingRight } = padding;
  const given = [paddingTop, paddingBottom, paddingLeft, paddingRight];
  const before = (image: tf.Tensor4D) => image;
  const [filterHeight, filterWidth] = [
    dilatedExtent(filter[1], sliding.dilationHeight),
    dilatedExtent(filter[2], sliding.dilationWidth),
  ];
  const same = [
    ...implicitPadding(PaddingScheme.SAME, height, sliding.strideHeight, filterHeight),
    ...implicitPadding(PaddingScheme.SAME, width, sliding.strideWidth, filterWidth),
  ];
  if (given.every((extent) => extent === 0)) return { pad: "valid", before };
  // If a stride skips a part of the image, the WebAssembly engine computes a wrong padding and returns zeros.
  const isDense = filterHeight >= sliding.strideHeight && filterWidth >= sliding.strideWidth;
  if (isDense && given.every((extent, side) => extent === same[side])) return { pad: "same", before };
  // With one number for all sides tfjs uses the height of filter and stride as their width.
  const isSquare = filterHeight === filterWidth && sliding.strideHeight === sliding.strideWidth;
  if (isSquare && given.every((extent) => extent === paddingTop)) return { pad: paddingTop, before };
  const pads: [number, number][] = [
    [0, 0],
    [paddingTop, paddingBottom],
    [paddingLeft, paddingRight],
    [0, 0],
  ];
  const extents = (height + paddingTop + paddingBottom) * (width + paddingLeft + paddingRight);
  ensureSize("the padded image", extents * batches * channels);
  return { pad: "valid", before: (image) => tf.pad(image, pads) };
}

/** tfjs supports either strides or dilations. For both, zeros are inserted between the filter's cells. */
function spread(filter: tf.Tensor4D, { dilationHeight, dilationWidth }: Dilations): tf.Tensor4D {
  const [height, width, inputs, outputs] = filter.shape;
  const rows = tf.pad(tf.reshape(filter, [height, 1, width * inputs * outputs]), [
    [0, 0],
    [0, dilationHeight - 1],
    [0, 0],
  ]);
  const tall = height * dilationHeight;
  const columns = tf.pad(tf.reshape(rows, [tall * width, 1, inputs * outputs]), [
    [0, 0],
    [0, dilationWidth - 1],
    [0, 0],
  ]);
  const wide = width * dilationWidth;
  const all = tf.reshape<tf.Rank.R4>(columns, [tall, wide, inputs, outputs]);
  return tf.slice4d(all, [0, 0, 0, 0], [tall - dilationHeight + 1, wide - dilationWidth + 1, inputs, outputs]);
}

/** Strides, dilations and changes to filter and image that tfjs needs for a sliding filter. */
export function computeSliding(given: SlidingFilter) {
  const { strideHeight, strideWidth } = given;
  const { dimensions } = given.filter;
  // A single cell needs no dilation.
  const dilationHeight = dimensions[1] === 1 ? 1 : given.dilationHeight;
  const dilationWidth = dimensions[2] === 1 ? 1 : given.dilationWidth;
  const args = { ...given, dilationHeight, dilationWidth };
  const isBoth = strideHeight * strideWidth > 1 && dilationHeight * dilationWidth > 1;
  const strides: [number, number] = [strideHeight, strideWidth];
  const dilations: [number, number] = isBoth ? [1, 1] : [dilationHeight, dilationWidth];
  if (isBoth) {
    const cells = dilatedExtent(dimensions[1], dilationHeight) * dilatedExtent(dimensions[2], dilationWidth);
    ensureSize(
      "the filter with its cells spread apart",
      (cells * elementCount(dimensions)) / (dimensions[1] * dimensions[2]),
    );
  }
  const shape = (filter: tf.Tensor4D) => (isBoth ? spread(filter, args) : filter);
  const { pad, before } = padsOf(args, imageLayout(args.input.dimensions, args.nchw), args.filter.dimensions, args);
  return { sliding: { strides, dilations, pad }, shape, before };
}
