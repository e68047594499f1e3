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
import { imageAxes, implicitPadding, type Padding, PaddingScheme } from "../window.ts";
import { filterWork } from "../work.ts";
import { accumulatorStore, biasOf, type Store } from "./_accumulator.ts";
import { type Filters, WORK_BETWEEN_PAUSES } from "./_convolution.ts";
import {
  checkChannelDim,
  convolutionTypes,
  ensureBias,
  ensureDepth,
  paddingParams,
  strideParams,
} from "./_convolution-params.ts";
import { type Image, type ImageLayout, imageDimensions, imageLayout, readImage } from "./_image.ts";
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
          () => `the output shape has shape ${formatShape(dimensions)} where 4 elements are needed`,
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
  *reference({ input, filter, bias, activation, nchw, ...padded }, { output }, context) {
    yield* spread(
      yield* readImage(input, nchw),
      { data: yield* widenOnce(filter, context), dimensions: filter.dimensions },
      biasOf(bias),
      imageLayout(output.dimensions, nchw),
      padded,
      accumulatorStore(input, filter, bias, output, activation),
    );
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

/** Extent of the output along one axis. */
function spreadExtent(
  axis: string,
  input: number,
  filter: number,
  stride: number,
  before: number,
  after: number,
): number {
  ensure(input >= 1, () => `the image's ${axis} is ${input}, less than 1`);
  ensure(filter >= 1, () => `the filter's ${axis} is ${filter}, less than 1`);
  ensure(stride >= 1, () => `the stride along the ${axis} is ${stride}, less than 1`);
  ensure(before >= 0, () => `the padding before the ${axis} is ${before}, less than 0`);
  const extent = (input - 1) * stride + filter - before - after;
  ensure(extent >= 1, () => `padding ${before} and ${after} leave nothing of the ${axis}`);
  return extent;
}

/**
 * output[b, y, x, o] = bias[o] + Σ image[b, h, w, c] · filter[o, i, j, c]
 *   over all h, i with h·stride + i − padding = y, and w, j likewise
 */
function* spread(
  image: Image,
  filters: Filters,
  bias: Float64Array,
  output: ImageLayout,
  padded: Padding & { readonly strideWidth: number; readonly strideHeight: number },
  store: Store,
): Generator<void, void> {
  const [, filterHeight, filterWidth] = filters.dimensions;
  const { strideWidth, strideHeight, paddingTop, paddingLeft } = padded;
  const sums = new Float64Array(bias.length);
  let work = 0;
  for (let batch = 0; batch < output.batches; batch++) {
    for (let y = 0; y < output.height; y++) {
      for (let x = 0; x < output.width; x++) {
        sums.set(bias);
        for (let i = 0; i < filterHeight; i++) {
          const row = (y + paddingTop - i) / strideHeight;
          if (!Number.isInteger(row) || row < 0 || row >= image.height) continue;
          for (let j = 0; j < filterWidth; j++) {
            const column = (x + paddingLeft - j) / strideWidth;
            if (!Number.isInteger(column) || column < 0 || column >= image.width) continue;
            const from = batch * image.batchStep + row * image.rowStep + column * image.pixelStep;
            accumulate(image, from, filters, i, j, sums);
            work += sums.length * image.channels;
          }
          work += filterWidth + sums.length;
          if (work > WORK_BETWEEN_PAUSES) {
            work = 0;
            yield;
          }
        }
        const start = batch * output.batchStep + y * output.rowStep + x * output.pixelStep;
        store(sums, 0, sums.length, start, output.channelStep);
      }
    }
  }
}

/** Adds the products of one input pixel and one cell of each filter. */
function accumulate(image: Image, from: number, filters: Filters, i: number, j: number, sums: Float64Array): void {
  const [, filterHeight, filterWidth, depth] = filters.dimensions;
  for (let channel = 0; channel < sums.length; channel++) {
    const at = ((channel * filterHeight + i) * filterWidth + j) * depth;
    let sum = sums[channel];
    for (let c = 0; c < depth; c++) sum += image.data[from + c] * filters.data[at + c];
    sums[channel] = sum;
  }
}
