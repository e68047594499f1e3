/** Resizing of images. */
import type { KernelTensor } from "@nnhal/backend";
import { imageLayout, nearestSource, type ResizeAlignment } from "@nnhal/operations";
import * as tf from "@tensorflow/tfjs-core";
import { fromNhwc, toNhwc } from "./_image.ts";
import { realKernel, storedKernel } from "./_kernel.ts";

interface Resize extends ResizeAlignment {
  readonly input: KernelTensor;
  readonly width: number;
  readonly height: number;
  readonly nchw: boolean;
}

export const resizeBilinear = realKernel({
  prepare:
    ({ input, width, height, nchw, alignCorners, halfPixelCenters }: Resize) =>
    (read) => {
      const image = toNhwc(read(input), nchw);
      return fromNhwc(tf.image.resizeBilinear(image, [height, width], alignCorners, halfPixelCenters), nchw);
    },
});

/** Gathers rows and columns at indexes that are known from the shapes. tfjs itself rounds differently. */
export const resizeNearestNeighbor = storedKernel({
  prepare({ input, width, height, nchw, ...alignment }: Resize, _, { keep }) {
    const from = imageLayout(input.dimensions, nchw);
    const rows = tf.tensor1d(nearest(from.height, height, alignment), "int32");
    const columns = tf.tensor1d(nearest(from.width, width, alignment), "int32");
    keep(rows);
    keep(columns);
    return (read) => fromNhwc(tf.gather(tf.gather(toNhwc(read(input), nchw), rows, 1), columns, 2), nchw);
  },
});

/** The input index of each output index along one axis. */
function nearest(input: number, output: number, alignment: ResizeAlignment): number[] {
  const sourceOf = nearestSource(input, output, alignment);
  return Array.from({ length: output }, (_, index) => sourceOf(index));
}
