/**
 * TRANSPOSE_CONV_2D: the transpose (gradient) of a convolution: every input element spreads a filter over the output.
 * Facts: HAL 1.3 types.hal, TRANSPOSE_CONV_2D. The implicit form has the output's shape as an operand, but as in the
 * HAL's own executor only its height and width count, and only for the padding.
 */
import { OperationType } from "@nnhal/types";
import { alternative, defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { bool, int32, read, tensor } from "../params.ts";
import { formatShape } from "../shape.ts";
import { imageAxes, implicitPadding, PaddingScheme } from "../window.ts";
import { filterWork } from "../work.ts";
import { accumulatorStore, biasOf } from "./_accumulator.ts";
import {
  checkChannelDim,
  convolutionTypes,
  ensureBias,
  ensureDepth,
  paddingParams,
  strideParams,
} from "./_convolution-params.ts";
import { imageDimensions, imageLayout, readImage } from "./_image.ts";
import { spread, spreadExtent } from "./_spread.ts";
import { widenOnce } from "./_widen.ts";

const operands = [tensor("input"), tensor("filter"), tensor("bias")] as const;
const last = [...strideParams, int32("activation"), bool("nchw")] as const;

export const transposeConv2d = defineOperation({
  name: "TRANSPOSE_CONV_2D",
  code: OperationType.TRANSPOSE_CONV_2D,
  summary: "Spreads a filter over the output for every element of the input: the transpose of a convolution.",
  params: [...operands, ...paddingParams, ...last],
  outputs: [tensor("output")],
  types: convolutionTypes("1.2"),
  ranks: { input: 4, filter: 4, bias: 1 },
  alternatives: [
    alternative({
      params: [...operands, read(tensor("outputShape", "TENSOR_INT32")), int32("paddingScheme"), ...last],
      normalise({ filter, nchw, strideHeight, strideWidth, outputShape, paddingScheme }) {
        const { dimensions, data } = outputShape;
        ensure(
          dimensions.length === 1 && data.length === 4,
          () => `the output shape: expected 4 elements, got ${formatShape(dimensions)}`,
        );
        const [, filterHeight, filterWidth] = filter.dimensions;
        const axes = imageAxes(nchw);
        const [paddingTop, paddingBottom] = tightPadding(paddingScheme, data[axes.height], strideHeight, filterHeight);
        const [paddingLeft, paddingRight] = tightPadding(paddingScheme, data[axes.width], strideWidth, filterWidth);
        return { paddingLeft, paddingRight, paddingTop, paddingBottom };
      },
    }),
  ],
  work: ({ filter }, { output }) => filterWork(filter, output),
  check: ({ filter }) => checkChannelDim(filter, 0),
  infer({ input, filter, bias, nchw, ...padded }) {
    const [channels, filterHeight, filterWidth, filterDepth] = filter.dimensions;
    const image = imageLayout(input.dimensions, nchw);
    ensureDepth(filterDepth, image.channels);
    ensure(filterDepth >= 1, () => "the input has no channels");
    ensureBias(bias, channels);
    const { paddingTop, paddingBottom, paddingLeft, paddingRight, strideHeight, strideWidth } = padded;
    const height = spreadExtent("height", image.height, filterHeight, strideHeight, paddingTop, paddingBottom);
    const width = spreadExtent("width", image.width, filterWidth, strideWidth, paddingLeft, paddingRight);
    return { output: { dimensions: imageDimensions({ batches: image.batches, height, width, channels }, nchw) } };
  },
  reference({ input, filter, bias, activation, nchw, ...padded }, { output }, context) {
    const image = readImage(input, nchw);
    const wide = widenOnce(filter, context);
    const filters = { data: wide.data, dimensions: filter.dimensions };
    const store = accumulatorStore(input, filter, bias, output, activation);
    const layout = imageLayout(output.dimensions, nchw);
    return [...image.phases, ...wide.phases, spread(image, filters, biasOf(bias), layout, padded, store)];
  },
});

/**
 * Padding of one axis of the output by an implicit scheme. With SAME the part after reaches to the end of the last
 * stride; if the filter is shorter than the stride it is negative.
 */
function tightPadding(scheme: number, output: number, stride: number, filter: number): readonly [number, number] {
  const [before, after] = implicitPadding(scheme, output, stride, filter);
  if (scheme !== PaddingScheme.SAME) return [before, after];
  const end = (Math.ceil(output / stride) - 1) * stride + filter;
  return [before, end - output - before];
}
