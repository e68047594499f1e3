/**
 * DEPTHWISE_CONV_2D: a convolution in which every output channel sees one input channel. Facts: HAL 1.3 types.hal,
 * DEPTHWISE_CONV_2D. With eleven operands, the type of the ninth, BOOL or INT32, decides the form.
 */
import { OperationType } from "@nnhal/types";
import { alternative, defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, tensor } from "../params.ts";
import { depthwiseWork } from "../work.ts";
import { accumulatorStore, biasOf, needsFreeOutputScale } from "./_accumulator.ts";
import { convolvedShape } from "./_convolution.ts";
import {
  checkChannelDim,
  convolutionTypes,
  dilationParams,
  ensureBias,
  implicitImagePadding,
  paddingParams,
  strideParams,
} from "./_convolution-params.ts";
import { convolveDepthwise } from "./_depthwise.ts";
import { imageLayout, readImage } from "./_image.ts";
import { widenOnce } from "./_widen.ts";

const operands = [tensor("input"), tensor("filter"), tensor("bias")] as const;
const last = [int32("depthMultiplier"), int32("activation"), ...dilationParams] as const;

export const depthwiseConv2d = defineOperation({
  name: "DEPTHWISE_CONV_2D",
  code: OperationType.DEPTHWISE_CONV_2D,
  summary: "Slides filters over an image, each over one channel of it: every channel becomes depthMultiplier channels.",
  params: [...operands, ...paddingParams, ...strideParams, ...last],
  outputs: [tensor("output")],
  types: convolutionTypes("1.0"),
  counts: [11, 12, 14],
  ranks: { input: 4, filter: 4, bias: 1 },
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
  since: ({ input, filter }, { output }) => (needsFreeOutputScale(input, filter, output) ? "1.2" : undefined),
  infer(args) {
    const { input, filter, bias, depthMultiplier, nchw } = args;
    const [first, , , channels] = filter.dimensions;
    const depth = imageLayout(input.dimensions, nchw).channels;
    ensure(first === 1, () => `the filter's first extent: expected 1, got ${first}`);
    ensure(
      channels === depthMultiplier * depth,
      () => `the filter: expected ${depth} input channels * depth multiplier ${depthMultiplier}, got ${channels}`,
    );
    ensureBias(bias, channels);
    return { output: { dimensions: convolvedShape(input.dimensions, filter.dimensions, channels, args, nchw) } };
  },
  reference({ input, filter, bias, depthMultiplier, activation, nchw, ...sliding }, { output }, context) {
    const image = readImage(input, nchw);
    const wide = widenOnce(filter, context);
    const filters = { data: wide.data, dimensions: filter.dimensions };
    const store = accumulatorStore(input, filter, bias, output, activation);
    const layout = imageLayout(output.dimensions, nchw);
    return [
      ...image.phases,
      ...wide.phases,
      convolveDepthwise(image, filters, depthMultiplier, biasOf(bias), layout, sliding, store),
    ];
  },
});
