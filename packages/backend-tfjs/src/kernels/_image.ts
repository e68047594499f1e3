/** Images in tfjs are NHWC; NCHW images are transposed. */
import * as tf from "@tensorflow/tfjs-core";
import { rank4 } from "./_kernel.ts";

/** An image as NHWC. */
export function toNhwc(image: tf.Tensor, nchw: boolean): tf.Tensor4D {
  return rank4(nchw ? tf.transpose(image, [0, 2, 3, 1]) : image);
}

/** An NHWC image in its layout. */
export function fromNhwc(image: tf.Tensor, nchw: boolean): tf.Tensor {
  return nchw ? tf.transpose(image, [0, 3, 1, 2]) : image;
}
