/**
 * CONV_2D: two-dimensional convolution. Facts: HAL 1.3 types.hal, CONV_2D. With ten operands, the
 * type of the eighth, BOOL or INT32, decides the form.
 */
import { OperationType } from "@nnhal/types";
import { alternative, defineOperation } from "../define.ts";
import { int32, tensor } from "../params.ts";
import { filterWork } from "../work.ts";
import { accumulatorStore, biasOf, needsFreeOutputScale } from "./_accumulator.ts";
import { convolve, convolvedShape } from "./_convolution.ts";
import {
  checkChannelDim,
  convolutionTypes,
  dilationParams,
  ensureBias,
  ensureDepth,
  implicitImagePadding,
  paddingParams,
  strideParams,
} from "./_convolution-params.ts";
import { imageLayout, readImage } from "./_image.ts";
import { widenOnce } from "./_widen.ts";

const operands = [tensor("input"), tensor("filter"), tensor("bias")] as const;

export const conv2d = defineOperation({
  name: "CONV_2D",
  code: OperationType.CONV_2D,
  summary: "Slides filters over an image: each output is the sum of the products under the window, plus a bias.",
  params: [...operands, ...paddingParams, ...strideParams, int32("activation"), ...dilationParams],
  outputs: [tensor("output")],
  types: convolutionTypes("1.0"),
  counts: [10, 11, 13],
  ranks: { input: 4, filter: 4, bias: 1 },
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
  since: ({ input, filter }, { output }) => (needsFreeOutputScale(input, filter, output) ? "1.2" : undefined),
  infer(args) {
    const { input, filter, bias, nchw } = args;
    const [channels, , , depth] = filter.dimensions;
    ensureDepth(depth, imageLayout(input.dimensions, nchw).channels);
    ensureBias(bias, channels);
    return { output: { dimensions: convolvedShape(input.dimensions, filter.dimensions, channels, args, nchw) } };
  },
  reference({ input, filter, bias, activation, nchw, ...sliding }, { output }, context) {
    const image = readImage(input, nchw);
    const wide = widenOnce(filter, context);
    const filters = { data: wide.data, dimensions: filter.dimensions };
    const store = accumulatorStore(input, filter, bias, output, activation);
    const layout = imageLayout(output.dimensions, nchw);
    return [...image.phases, ...wide.phases, convolve(image, filters, biasOf(bias), layout, sliding, 1, store)];
  },
});
