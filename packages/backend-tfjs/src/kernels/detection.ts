/** Boxes, keypoints, and samples. */
import type { KernelTensor } from "@nnhal/backend";
import { ensure, imageLayout } from "@nnhal/operations";
import * as tf from "@tensorflow/tfjs-core";
import { floatKernel, realKernel } from "./_kernel.ts";

interface BoxTransform {
  readonly regions: KernelTensor;
  readonly deltas: KernelTensor;
  readonly batches: KernelTensor;
  readonly imageSizes: KernelTensor;
}

/** Returns whether a tensor has a true element. */
function holdsTrue(tensor: tf.Tensor): boolean {
  return tf.any(tensor).dataSync()[0] !== 0;
}

/** The sides of boxes, [count, 1] each: left, top, right, bottom. */
function sidesOf(boxes: tf.Tensor): tf.Tensor[] {
  const [left, top, right, bottom] = tf.split(boxes, 4, 1);
  ensure(
    !holdsTrue(tf.greater(left, right)) && !holdsTrue(tf.greater(top, bottom)),
    () => "a box ends before it begins",
  );
  return [left, top, right, bottom];
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
      const [left, top, right, bottom] = sidesOf(read(regions));
      const [height, width] = tf.split(tf.gather(read(imageSizes), indexes, 0), 2, 1);
      const moves = tf.split(tf.reshape(read(deltas), [count, classes, 4]), 4, 2);
      const [dx, dy, dw, dh] = moves.map((move) => tf.reshape(move, [count, classes]));
      /** Moves the centre and scales the extent along one axis, and clips at the border. */
      const along = (from: tf.Tensor, to: tf.Tensor, move: tf.Tensor, scale: tf.Tensor, limit: tf.Tensor) => {
        const extent = tf.sub(to, from);
        const centre = tf.add(tf.add(from, tf.mul(extent, 0.5)), tf.mul(move, extent));
        // An infinite power would make boxes without an extent undefined.
        const half = tf.mul(tf.mul(tf.exp(tf.minimum(scale, 80)), extent), 0.5);
        return [tf.sub(centre, half), tf.add(centre, half)].map((side) => tf.minimum(tf.relu(side), limit));
      };
      const [x1, x2] = along(left, right, dx, dw, width);
      const [y1, y2] = along(top, bottom, dy, dh, height);
      return tf.reshape(tf.stack([x1, y1, x2, y2], 2), [count, columns]);
    };
  },
});

interface Heatmaps {
  readonly heatmaps: KernelTensor;
  readonly boxes: KernelTensor;
  readonly nchw: boolean;
}

/** See `refinedMaxima`. The places are converted to coordinates of the boxes. */
export const heatmapMaxKeypoint = realKernel({
  prepare({ heatmaps, boxes, nchw }: Heatmaps) {
    const { batches: count, height: size, channels } = imageLayout(heatmaps.dimensions, nchw);
    return (read) => {
      const maps = nchw ? read(heatmaps) : tf.transpose(read(heatmaps), [0, 3, 1, 2]);
      const [score, ...places] = refinedMaxima(tf.reshape<tf.Rank.R2>(maps, [count * channels, size * size]), size);
      const [left, top, right, bottom] = sidesOf(read(boxes));
      const [x, y] = places.map((place) => tf.reshape(tf.div(tf.add(place, 0.5), size), [count, channels]));
      const within = (from: tf.Tensor, to: tf.Tensor, part: tf.Tensor) => tf.add(tf.mul(part, tf.sub(to, from)), from);
      return [tf.reshape(score, [count, channels]), tf.stack([within(left, right, x), within(top, bottom, y)], 2)];
    };
  },
});

/**
 * The maximum of each square in [count, size · size], refined: its place is moved by at most 1.5 to the maximum of a quadratic through its
 * neighbours. Of equal values the first counts. Values beyond the border are mirrored. Returns score, x, y.
 */
function refinedMaxima(squares: tf.Tensor2D, size: number): readonly [tf.Tensor, tf.Tensor, tf.Tensor] {
  const [count, pixels] = squares.shape;
  const values = tf.reshape<tf.Rank.R1>(squares, [count * pixels]);
  const starts = tf.mul(tf.range(0, count, 1, "int32"), tf.scalar(pixels, "int32"));
  const best = tf.argMax<tf.Tensor1D>(squares, 1);
  const bestY = tf.floorDiv(best, tf.scalar(size, "int32"));
  const bestX = tf.sub(best, tf.mul(bestY, tf.scalar(size, "int32")));
  /** |place|, except size − 2 for size. */
  const mirror = (place: tf.Tensor) =>
    tf.sub(tf.scalar(size - 1, "int32"), tf.abs(tf.sub(tf.scalar(size - 1, "int32"), tf.abs(place))));
  const near = (dy: number, dx: number) => {
    const row = mirror(tf.add(bestY, tf.scalar(dy, "int32")));
    const column = mirror(tf.add(bestX, tf.scalar(dx, "int32")));
    const index = tf.add(tf.add(starts, tf.mul(row, tf.scalar(size, "int32"))), column);
    return tf.gather(values, tf.cast(index, "int32"));
  };
  const centre = near(0, 0);
  const [left, right, above, below] = [near(0, -1), near(0, 1), near(-1, 0), near(1, 0)];
  // Gradient g and second derivatives h of f(c + d) = f(c) + g·d + d·h·d / 2; its maximum lies at d = −h⁻¹·g.
  const gx = tf.div(tf.sub(right, left), 2);
  const gy = tf.div(tf.sub(below, above), 2);
  const hxx = tf.add(tf.sub(left, tf.mul(centre, 2)), right);
  const hyy = tf.add(tf.sub(above, tf.mul(centre, 2)), below);
  const hxy = tf.div(tf.sub(tf.add(near(1, 1), near(-1, -1)), tf.add(near(1, -1), near(-1, 1))), 4);
  const product = tf.mul(hxx, hyy);
  const determinant = tf.sub(product, tf.mul(hxy, hxy));
  const isFlat = tf.less(tf.abs(determinant), tf.add(tf.mul(product, 1e-5), 1e-5));
  const along = (a: tf.Tensor, b: tf.Tensor) => tf.where(isFlat, 0, tf.div(tf.sub(a, b), determinant));
  const dx = along(tf.mul(hxy, gy), tf.mul(hyy, gx));
  const dy = along(tf.mul(hxy, gx), tf.mul(hxx, gy));
  const farthest = tf.maximum(tf.maximum(tf.abs(dx), tf.abs(dy)), 1.5);
  const [mx, my] = [dx, dy].map((move) => tf.div(tf.mul(move, 1.5), farthest));
  const slope = tf.add(tf.mul(gx, mx), tf.mul(gy, my));
  const bend = tf.add(
    tf.add(tf.mul(hxx, tf.square(mx)), tf.mul(hyy, tf.square(my))),
    tf.mul(tf.mul(hxy, 2), tf.mul(mx, my)),
  );
  const score = tf.add(centre, tf.add(slope, tf.div(bend, 2)));
  return [score, tf.add(bestX, mx), tf.add(bestY, my)];
}

interface Multinomial {
  readonly input: KernelTensor;
  readonly samples: number;
  readonly seeds: KernelTensor;
}

/** If the seeds are 0, the samples differ from run to run. */
export const randomMultinomial = floatKernel({
  prepare:
    ({ input, samples, seeds }: Multinomial) =>
    (read, { random }) => {
      // tfjs needs at least two classes.
      if (input.dimensions[1] === 1) return tf.zeros([input.dimensions[0], samples], "int32");
      const [high, low] = seeds.data ?? read(seeds).dataSync();
      const seed = high === 0 && low === 0 ? Math.floor(random() * 2 ** 31) + 1 : Math.abs(high * 31 + low) + 1;
      const logits = tf.reshape<tf.Rank.R2>(read(input), [input.dimensions[0], input.dimensions[1]]);
      return tf.reshape(tf.multinomial(logits, samples, seed), [input.dimensions[0], samples]);
    },
});
