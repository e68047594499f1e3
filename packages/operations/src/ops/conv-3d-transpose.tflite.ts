/**
 * CONV_3D_TRANSPOSE: the transpose of a three-dimensional convolution, with any shape of the result.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { omittable, read, tensor } from "../params.ts";
import { formatShape } from "../shape.ts";
import { ensureBiasCount } from "./_layers.tflite.ts";
import {
  axesOf,
  convolveVolume,
  filtersFirst,
  paddingBefore,
  transposedSource,
  volumeOptions,
} from "./_volume.tflite.ts";

export const conv3dTranspose = defineOperation({
  name: "CONV_3D_TRANSPOSE",
  code: 1141,
  summary: "Spreads filters over the output for every element of a volume: the transpose of a convolution.",
  params: [
    read(tensor("outputShape", "TENSOR_INT32")),
    tensor("filter", "TENSOR_FLOAT32"),
    tensor("input", "TENSOR_FLOAT32"),
    omittable(tensor("bias", "TENSOR_FLOAT32")),
    ...volumeOptions,
  ],
  outputs: [tensor("output", "TENSOR_FLOAT32")],
  types: [["1.2"]],
  ranks: { input: 5, filter: 5, outputShape: 1 },
  work: ({ filter }, { output }) => ({
    multiplyAdd: [...output, ...filter.slice(0, 3), ...filter.slice(4)].reduce(
      (product, extent) => product * extent,
      1,
    ),
  }),
  infer({ outputShape, filter, input, bias, padding, ...options }) {
    const dimensions = [...outputShape.data];
    const [batches, depth, height, width] = dimensions;
    const channels = filter.dimensions[3];
    ensure(
      dimensions.length === 5 && batches === input.dimensions[0] && dimensions[4] === channels,
      () =>
        `the output shape: expected 5 extents, the first ${input.dimensions[0]} and the last ${channels}, got ${formatShape(dimensions)}`,
    );
    ensure(
      input.dimensions[4] === filter.dimensions[4] && filter.dimensions[4] >= 1,
      () => `the input has ${input.dimensions[4]} channels where the filter has ${filter.dimensions[4]}`,
    );
    ensureBiasCount(bias, channels);
    const extents = [depth, height, width];
    axesOf({ padding, ...options }, filter.dimensions).forEach((axis, index) => {
      ensure(extents[index] >= 1, () => `the output's ${axis.name} is ${extents[index]}, less than 1`);
      paddingBefore(padding, extents[index], axis);
    });
    return { output: { dimensions } };
  },
  reference({ filter, input, bias, fusedActivationFunction, ...options }, { output }) {
    const axes = axesOf(options, filter.dimensions);
    return convolveVolume({
      input,
      filters: filtersFirst(filter.data, filter.dimensions[3], filter.dimensions[4]),
      bias,
      activation: fusedActivationFunction,
      axes,
      sources: axes.map((axis, index) => transposedSource(output.dimensions[index + 1], options.padding, axis)),
      output,
    });
  },
});
