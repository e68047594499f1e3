/**
 * GROUPED_CONV_2D: a convolution in which each part of the output's channels sees one part of the input's. Facts: HAL
 * 1.3 types.hal, GROUPED_CONV_2D.
 */
import { OperationType } from "@nnhal/types";
import { alternative, defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { bool, int32, tensor } from "../params.ts";
import { filterWork } from "../work.ts";
import { accumulatorStore, biasOf } from "./_accumulator.ts";
import { convolve, convolvedShape } from "./_convolution.ts";
import {
  checkChannelDim,
  convolutionTypes,
  ensureBias,
  implicitImagePadding,
  paddingParams,
  strideParams,
} from "./_convolution-params.ts";
import { imageLayout, readImage } from "./_image.ts";
import { widenOnce } from "./_widen.ts";

const operands = [tensor("input"), tensor("filter"), tensor("bias")] as const;
const last = [...strideParams, int32("groups"), int32("activation"), bool("nchw")] as const;
const undilated = { dilationWidth: 1, dilationHeight: 1 } as const;

export const groupedConv2d = defineOperation({
  name: "GROUPED_CONV_2D",
  code: OperationType.GROUPED_CONV_2D,
  summary: "A convolution with channels in groups: each group of filters sees one group of the input's channels.",
  params: [...operands, ...paddingParams, ...last],
  outputs: [tensor("output")],
  types: convolutionTypes("1.2"),
  ranks: { input: 4, filter: 4, bias: 1 },
  alternatives: [
    alternative({
      params: [...operands, int32("paddingScheme"), ...last],
      normalise(args) {
        const [, height, width] = args.filter.dimensions;
        return implicitImagePadding(args.paddingScheme, args, height, width);
      },
    }),
  ],
  work: ({ filter }, { output }) => filterWork(filter, output),
  check: ({ filter }) => checkChannelDim(filter, 0),
  infer({ input, filter, bias, groups, nchw, ...padded }) {
    const [channels, , , depth] = filter.dimensions;
    const inputDepth = imageLayout(input.dimensions, nchw).channels;
    ensure(groups >= 1, () => `the number of groups is ${groups}, less than 1`);
    ensure(
      channels % groups === 0,
      () => `the filter has ${channels} output channels, not a multiple of ${groups} groups`,
    );
    ensure(depth * groups === inputDepth, () => `the input: expected ${groups} groups * ${depth}, got ${inputDepth}`);
    ensureBias(bias, channels);
    const sliding = { ...padded, ...undilated };
    return { output: { dimensions: convolvedShape(input.dimensions, filter.dimensions, channels, sliding, nchw) } };
  },
  reference({ input, filter, bias, groups, activation, nchw, ...padded }, { output }, context) {
    const image = readImage(input, nchw);
    const wide = widenOnce(filter, context);
    const filters = { data: wide.data, dimensions: filter.dimensions };
    const store = accumulatorStore(input, filter, bias, output, activation);
    const layout = imageLayout(output.dimensions, nchw);
    return [
      ...image.phases,
      ...wide.phases,
      convolve(image, filters, biasOf(bias), layout, { ...padded, ...undilated }, groups, store),
    ];
  },
});
