/**
 * Regions of interest. Their coordinates are read back, since they determine which parts of the feature map are read. tfjs computes one
 * region after the other.
 */
import type { KernelTensor } from "@nnhal/backend";
import { imageLayout } from "@nnhal/operations";
import { pixelBins, type Region, type RegionSettings, scaledRegions } from "@nnhal/operations/compiling";
import * as tf from "@tensorflow/tfjs-core";
import { fromNhwc, toNhwc } from "./_image.ts";
import { type Read, realKernel, storedKernel } from "./_kernel.ts";
import { dequantise } from "./_quantised.ts";

interface Regions extends RegionSettings {
  readonly input: KernelTensor;
  readonly regions: KernelTensor;
  readonly batches: KernelTensor;
}

/**
 * Computes [outputHeight, outputWidth, channels] for each region from its feature map [height, width, channels]. `corners` are those of the
 * regions, in real numbers.
 */
function ofEachRegion(
  args: Regions,
  read: Read,
  corners: tf.Tensor,
  compute: (map: tf.Tensor3D, region: Region) => tf.Tensor,
): tf.Tensor {
  const { input, regions, batches, nchw, outputHeight, outputWidth } = args;
  const { height, width, channels } = imageLayout(input.dimensions, nchw);
  const maps = toNhwc(read(input), nchw);
  const placed = scaledRegions(
    input,
    { ...regions, type: "TENSOR_FLOAT32", data: corners.dataSync() },
    { ...batches, data: read(batches).dataSync() },
    args,
  );
  const results = placed.map((region) =>
    tf.tidy(() => {
      const map = tf.slice(maps, [region.batch, 0, 0, 0], [1, height, width, channels]);
      const result = compute(tf.reshape<tf.Rank.R3>(map, [height, width, channels]), region);
      return tf.reshape(result, [outputHeight, outputWidth, channels]);
    }),
  );
  return fromNhwc(tf.stack(results), nchw);
}

interface RoiAlign extends Regions {
  readonly heightSamples: number;
  readonly widthSamples: number;
}

/** rows · map · columnsᵀ for each channel: `rows` and `columns` are the weights of the map's rows and columns in each bin. */
export const roiAlign = realKernel({
  prepare: (args: RoiAlign) => {
    const { outputHeight, outputWidth, heightSamples, widthSamples } = args;
    return (read) =>
      ofEachRegion(args, read, read(args.regions), (map, { x1, y1, x2, y2 }) => {
        const [height, width, channels] = map.shape;
        const rows = weights(y1, y2, outputHeight, heightSamples, height);
        const columns = weights(x1, x2, outputWidth, widthSamples, width);
        const shrunk = tf.matMul(rows, tf.reshape<tf.Rank.R2>(map, [height, width * channels]));
        return tf.matMul(tf.expandDims(columns), tf.reshape(shrunk, [outputHeight, width, channels]));
      });
  },
});

/**
 * The weight of each pixel along an axis in each bin, [bins, extent]: the mean of samples, each interpolated between its two
 * neighbours. Beyond the last pixel, the last one counts. `samples`: the number in each bin; 0 means one for each pixel begun.
 */
function weights(from: number, to: number, bins: number, samples: number, extent: number): tf.Tensor2D {
  const size = Math.max(to - from, 1) / bins;
  const count = samples > 0 ? samples : Math.ceil(size);
  const places = tf.add(tf.mul(tf.range(0.5, bins * count), size / count), from);
  const within = tf.reshape(tf.minimum(places, extent - 1), [bins, count, 1]);
  const distances = tf.abs(tf.sub(within, tf.range(0, extent)));
  return tf.mean(tf.relu(tf.sub(1, distances)), 1);
}

/** The maximum of the rows of a bin, then of the columns. Whole numbers are compared as they are. */
export const roiPooling = storedKernel({
  prepare: (args: Regions) => {
    const { regions, input, outputHeight, outputWidth } = args;
    return (read) =>
      ofEachRegion(args, read, dequantise(read(regions), regions), (map, { x1, y1, x2, y2 }) => {
        const [height, width] = map.shape;
        const rows = greatest(map, 0, pixelBins(y1, y2, outputHeight, height), input.zeroPoint);
        return greatest(rows, 1, pixelBins(x1, x2, outputWidth, width), input.zeroPoint);
      });
  },
});

/** The greatest elements along an axis in each bin; `none` if a bin is empty. */
function greatest(map: tf.Tensor, axis: number, bins: readonly (readonly [number, number])[], none: number): tf.Tensor {
  const others = map.shape.filter((_, index) => index !== axis);
  const results = bins.map(([first, end]) => {
    if (first >= end) return tf.fill(others, none);
    const begin = map.shape.map((_, index) => (index === axis ? first : 0));
    const size = map.shape.map((extent, index) => (index === axis ? end - first : extent));
    return tf.max(tf.slice(map, begin, size), axis);
  });
  return tf.stack(results, axis);
}
