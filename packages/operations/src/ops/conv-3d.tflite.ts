/**
 * CONV_3D: three-dimensional convolution.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { omittable, tensor } from "../params.ts";
import { dilatedExtent } from "../window.ts";
import { ensureBiasCount } from "./_layers.tflite.ts";
import {
  type Axis,
  axesOf,
  convolutionSource,
  convolveVolume,
  filtersFirst,
  paddingBefore,
  volumeOptions,
} from "./_volume.tflite.ts";

export const conv3d = defineOperation({
  name: "CONV_3D",
  code: 1132,
  summary: "Slides filters over a volume: each output is the sum of the products under the window, plus a bias.",
  params: [
    tensor("input", "TENSOR_FLOAT32"),
    tensor("filter", "TENSOR_FLOAT32"),
    omittable(tensor("bias", "TENSOR_FLOAT32")),
    ...volumeOptions,
  ],
  outputs: [tensor("output", "TENSOR_FLOAT32")],
  types: [["1.2"]],
  ranks: { input: 5, filter: 5 },
  work: ({ filter }, { output }) => ({
    multiplyAdd: [...output, ...filter.slice(0, 4)].reduce((product, extent) => product * extent, 1),
  }),
  infer({ input, filter, bias, padding, ...options }) {
    const channels = filter.dimensions[4];
    ensure(
      input.dimensions[4] === filter.dimensions[3] && filter.dimensions[3] >= 1,
      () => `the input has ${input.dimensions[4]} channels where the filter has ${filter.dimensions[3]}`,
    );
    ensureBiasCount(bias, channels);
    const axes = axesOf({ padding, ...options }, filter.dimensions);
    const extents = axes.map((axis, index) => extentOf(input.dimensions[index + 1], padding, axis));
    return { output: { dimensions: [input.dimensions[0], ...extents, channels] } };
  },
  reference({ input, filter, bias, fusedActivationFunction, ...options }, { output }) {
    const axes = axesOf(options, filter.dimensions);
    return convolveVolume({
      input,
      filters: filtersFirst(filter.data, filter.dimensions[4], 1),
      bias,
      activation: fusedActivationFunction,
      axes,
      sources: axes.map((axis, index) => convolutionSource(input.dimensions[index + 1], options.padding, axis)),
      output,
    });
  },
});

function extentOf(input: number, padding: number, axis: Axis): number {
  const { name, stride, dilation, window } = axis;
  ensure(input >= 1, () => `the input's ${name} is ${input}, less than 1`);
  paddingBefore(padding, input, axis);
  const under = padding === 0 ? 1 : dilatedExtent(window, dilation);
  ensure(under <= input, () => `a window of ${under} does not fit the ${name} of ${input}`);
  return Math.floor((input - under) / stride) + 1;
}
