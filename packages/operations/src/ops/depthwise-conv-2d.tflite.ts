/**
 * DEPTHWISE_CONV_2D for the types of .tflite: INT16 activations, hybrid layers, no bias. The operands are those of the HAL's operation.
 */

import { OperationType } from "@nnhal/types";
import { alternative, defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, omittable, tensor, wide } from "../params.ts";
import { depthwiseWork } from "../work.ts";
import { convolvedShape } from "./_convolution.ts";
import {
  checkChannelDim,
  dilationParams,
  implicitImagePadding,
  paddingParams,
  strideParams,
} from "./_convolution-params.ts";
import { convolveDepthwise } from "./_depthwise.ts";
import { imageLayout } from "./_image.ts";
import { ensureBiasCount, hybridTypes, imageLayerOf, layerTypes } from "./_layers.tflite.ts";

const operands = [tensor("input"), tensor("filter"), omittable(wide(tensor("bias")))] as const;
const last = [int32("depthMultiplier"), int32("activation"), ...dilationParams] as const;

export const depthwiseConv2d = defineOperation({
  name: "DEPTHWISE_CONV_2D",
  code: OperationType.DEPTHWISE_CONV_2D,
  summary: "Slides filters over an image, each over one channel of it: every channel becomes depthMultiplier channels.",
  params: [...operands, ...paddingParams, ...strideParams, ...last],
  outputs: [tensor("output")],
  types: [...layerTypes, ...hybridTypes],
  counts: [11, 12, 14],
  ranks: { input: 4, filter: 4 },
  alternatives: [
    alternative({
      params: [...operands, int32("paddingScheme"), ...strideParams, ...last],
      counts: [8, 9, 11],
      normalise(args) {
        const [, height, width] = args.filter.dimensions;
        return implicitImagePadding(args.paddingScheme, args, height, width);
      },
    }),
  ],
  work: ({ filter }, { output }) => depthwiseWork(filter, output),
  check: ({ filter }) => checkChannelDim(filter, 3),
  infer(args) {
    const { input, filter, bias, depthMultiplier, nchw } = args;
    const [first, , , channels] = filter.dimensions;
    const depth = imageLayout(input.dimensions, nchw).channels;
    ensure(first === 1, () => `the filter's first extent: expected 1, got ${first}`);
    ensure(
      channels === depthMultiplier * depth,
      () => `the filter: expected ${depth} input channels * depth multiplier ${depthMultiplier}, got ${channels}`,
    );
    ensureBiasCount(bias, channels);
    return { output: { dimensions: convolvedShape(input.dimensions, filter.dimensions, channels, args, nchw) } };
  },
  reference(args, { output }, context) {
    const { input, filter, depthMultiplier, nchw } = args;
    const form = { rows: imageLayout(input.dimensions, nchw).batches, asymmetric: true };
    const layer = imageLayerOf(args, filter.dimensions[3], output, form, context);
    const { pixels, filters, bias, layout, store, phases } = layer;
    return [...phases, convolveDepthwise(pixels, filters, depthMultiplier, bias, layout, args, store)];
  },
});
