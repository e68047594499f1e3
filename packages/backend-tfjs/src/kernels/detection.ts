/** Boxes, and samples. */
import type { KernelTensor } from "@nnhal/backend";
import { ensure } from "@nnhal/operations";
import * as tf from "@tensorflow/tfjs-core";
import { floatKernel, realKernel } from "./_kernel.ts";

interface BoxTransform {
  readonly regions: KernelTensor;
  readonly deltas: KernelTensor;
  readonly batches: KernelTensor;
  readonly imageSizes: KernelTensor;
}

/** Whether a tensor holds a true element. */
function holdsTrue(tensor: tf.Tensor): boolean {
  return tf.any(tensor).dataSync()[0] !== 0;
}

export const axisAlignedBboxTransform = realKernel({
  prepare({ regions, deltas, batches, imageSizes }: BoxTransform) {
    const [count, columns] = deltas.dimensions;
    const classes = columns / 4;
    const images = imageSizes.dimensions[0];
    return (read) => {
      const indexes = tf.reshape<tf.Rank.R1>(read(batches), [count]);
      ensure(
        !holdsTrue(tf.less(indexes, tf.scalar(0, "int32"))) &&
          !holdsTrue(tf.greaterEqual(indexes, tf.scalar(images, "int32"))),
        () => `a batch index is outside [0, ${images})`,
      );
      const [left, top, right, bottom] = tf.split(read(regions), 4, 1);
      ensure(
        !holdsTrue(tf.greater(left, right)) && !holdsTrue(tf.greater(top, bottom)),
        () => "a box ends before it begins",
      );
      const [height, width] = tf.split(tf.gather(read(imageSizes), indexes, 0), 2, 1);
      const moves = tf.split(tf.reshape(read(deltas), [count, classes, 4]), 4, 2);
      const [dx, dy, dw, dh] = moves.map((move) => tf.reshape(move, [count, classes]));
      /** Centre moved and extent scaled along one axis, cut off at the border. */
      const along = (from: tf.Tensor, to: tf.Tensor, move: tf.Tensor, scale: tf.Tensor, limit: tf.Tensor) => {
        const extent = tf.sub(to, from);
        const centre = tf.add(tf.add(from, tf.mul(extent, 0.5)), tf.mul(move, extent));
        const half = tf.mul(tf.mul(tf.exp(scale), extent), 0.5);
        return [tf.sub(centre, half), tf.add(centre, half)].map((side) => tf.minimum(tf.relu(side), limit));
      };
      const [x1, x2] = along(left, right, dx, dw, width);
      const [y1, y2] = along(top, bottom, dy, dh, height);
      return tf.reshape(tf.stack([x1, y1, x2, y2], 2), [count, columns]);
    };
  },
});

interface Multinomial {
  readonly input: KernelTensor;
  readonly samples: number;
  readonly seeds: KernelTensor;
}

/** Seeds of 0 ask for samples that are different each time. */
export const randomMultinomial = floatKernel({
  prepare:
    ({ input, samples, seeds }: Multinomial) =>
    (read, { random }) => {
      const [high, low] = seeds.data ?? read(seeds).dataSync();
      const seed = high === 0 && low === 0 ? Math.floor(random() * 2 ** 31) + 1 : Math.abs(high * 31 + low) + 1;
      const logits = tf.reshape<tf.Rank.R2>(read(input), [input.dimensions[0], input.dimensions[1]]);
      return tf.reshape(tf.multinomial(logits, samples, seed), [input.dimensions[0], samples]);
    },
});
