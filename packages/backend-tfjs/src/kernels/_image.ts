/** Images in tfjs are NHWC; NCHW ones are turned round. */
import { imageAxes } from "@nnhal/operations";
import * as tf from "@tensorflow/tfjs-core";
import { rank4 } from "./_kernel.ts";

/** Extents of an image. */
export interface Space {
  readonly batches: number;
  readonly height: number;
  readonly width: number;
  readonly channels: number;
}

/** The extents of an image of either layout. */
export function spaceOf(dimensions: readonly number[], nchw: boolean): Space {
  const axes = imageAxes(nchw);
  return {
    batches: dimensions[axes.batch],
    height: dimensions[axes.height],
    width: dimensions[axes.width],
    channels: dimensions[axes.channel],
  };
}

/** An image as NHWC. */
export function toNhwc(image: tf.Tensor, nchw: boolean): tf.Tensor4D {
  return rank4(nchw ? tf.transpose(image, [0, 2, 3, 1]) : image);
}

/** An NHWC image in its layout. */
export function fromNhwc(image: tf.Tensor, nchw: boolean): tf.Tensor {
  return nchw ? tf.transpose(image, [0, 3, 1, 2]) : image;
}
