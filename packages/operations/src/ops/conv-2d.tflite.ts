/**
 * CONV_2D for the types of .tflite: INT16 activations, hybrid layers, no bias, and groups with dilations. The operands are those of the
 * HAL's operation.
 */

import { OperationType } from "@nnhal/types";
import { alternative, defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, omittable, tensor, wide } from "../params.ts";
import { filterWork } from "../work.ts";
import { convolve, convolvedShape } from "./_convolution.ts";
import {
  checkChannelDim,
  dilationParams,
  implicitImagePadding,
  paddingParams,
  strideParams,
} from "./_convolution-params.ts";
import { hasDifferentScales } from "./_hybrid.tflite.ts";
import { imageLayout } from "./_image.ts";
import { ensureBiasCount, hybridTypes, imageLayerOf, layerTypes } from "./_layers.tflite.ts";

const operands = [tensor("input"), tensor("filter"), omittable(wide(tensor("bias")))] as const;

export const conv2d = defineOperation({
  name: "CONV_2D",
  code: OperationType.CONV_2D,
  summary: "Slides filters over an image: each output is the sum of the products under the window, plus a bias.",
  params: [...operands, ...paddingParams, ...strideParams, int32("activation"), ...dilationParams],
  outputs: [tensor("output")],
  types: [...layerTypes, ...hybridTypes],
  counts: [10, 11, 13],
  ranks: { input: 4, filter: 4 },
  alternatives: [
    alternative({
      params: [...operands, int32("paddingScheme"), ...strideParams, int32("activation"), ...dilationParams],
      counts: [7, 8, 10],
      normalise(args) {
        const [, height, width] = args.filter.dimensions;
        return implicitImagePadding(args.paddingScheme, args, height, width);
      },
    }),
  ],
  work: ({ filter }, { output }) => filterWork(filter, output),
  check: ({ filter }) => checkChannelDim(filter, 0),
  infer(args) {
    const { input, filter, bias, nchw } = args;
    const [channels, , , filterDepth] = filter.dimensions;
    const depth = imageLayout(input.dimensions, nchw).channels;
    const groups = depth / filterDepth;
    ensure(
      Number.isInteger(groups) && channels % groups === 0,
      () =>
        `${depth} input channels and ${channels} filters do not divide into groups with filters of ${filterDepth} channels`,
    );
    ensureBiasCount(bias, channels);
    return { output: { dimensions: convolvedShape(input.dimensions, filter.dimensions, channels, args, nchw) } };
  },
  reference(args, { output }, context) {
    const { input, filter, nchw } = args;
    const [channels, , , filterDepth] = filter.dimensions;
    const image = imageLayout(input.dimensions, nchw);
    const form = { rows: image.batches, asymmetric: hasDifferentScales(filter) };
    const { pixels, filters, bias, layout, store, phases } = imageLayerOf(args, channels, output, form, context);
    return [...phases, convolve(pixels, filters, bias, layout, args, image.channels / filterDepth, store)];
  },
});
