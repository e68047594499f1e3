/** Resizing of images. */
import type { KernelTensor } from "@nnhal/backend";
import { imageLayout } from "@nnhal/operations";
import { nearestSource, neighboursInSteps, RESIZE_STEPS, type ResizeAlignment } from "@nnhal/operations/compiling";
import * as tf from "@tensorflow/tfjs-core";
import { fromNhwc, toNhwc } from "./_image.ts";
import { realKernel, storedKernel } from "./_kernel.ts";
import { isQuantised } from "./_quantised.ts";

interface Resize extends ResizeAlignment {
  readonly input: KernelTensor;
  readonly width: number;
  readonly height: number;
  readonly nchw: boolean;
}

const resizeReals = realKernel({
  prepare:
    ({ input, width, height, nchw, alignCorners, halfPixelCenters }: Resize) =>
    (read) => {
      const image = toNhwc(read(input), nchw);
      return fromNhwc(tf.image.resizeBilinear(image, [height, width], alignCorners, halfPixelCenters), nchw);
    },
});

/**
 * Interpolates stored bytes in whole numbers, as the reference does. Sums of 30 bits do not fit float32: what the rows differ by is divided at 2^10,
 * and each part is exact.
 */
const resizeBytes = storedKernel({
  prepare({ input, width, height, nchw, ...alignment }: Resize, _, { keep }) {
    const from = imageLayout(input.dimensions, nchw);
    const places = (values: Int32Array) => {
      const tensor = tf.tensor1d(values, "int32");
      keep(tensor);
      return tensor;
    };
    const along = (extent: number, length: number, shape: [number, number, number, number]) => {
      const { before, after, share } = neighboursInSteps(extent, length, alignment);
      const shares = tf.tensor4d(Float32Array.from(share), shape);
      keep(shares);
      return { before: places(before), after: places(after), shares };
    };
    const columns = along(from.width, width, [1, 1, width, 1]);
    const rows = along(from.height, height, [1, height, 1, 1]);
    return (read) => {
      const image = toNhwc(read(input), nchw);
      const [left, right] = [tf.gather(image, columns.before, 2), tf.gather(image, columns.after, 2)];
      const mixed = tf.add(tf.mul(left, RESIZE_STEPS), tf.mul(tf.sub(right, left), columns.shares));
      const [upper, lower] = [tf.gather(mixed, rows.before, 1), tf.gather(mixed, rows.after, 1)];
      const difference = tf.sub(lower, upper);
      const high = tf.floor(tf.div(difference, 2 ** 10));
      const low = tf.sub(difference, tf.mul(high, 2 ** 10));
      const most = tf.add(tf.mul(upper, 2), tf.mul(high, rows.shares));
      const rest = tf.floor(tf.div(tf.mul(low, rows.shares), 2 ** 10));
      const result = tf.floor(tf.div(tf.add(tf.add(most, rest), 2 ** 11), 2 ** 12));
      return fromNhwc(result, nchw);
    };
  },
});

export const resizeBilinear: typeof resizeReals = {
  ...resizeReals,
  prepare: (args, outputs, setup) =>
    (isQuantised(args.input.type) ? resizeBytes : resizeReals).prepare(args, outputs, setup),
};

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
