/**
 * DEPTHWISE_CONV_2D: a convolution in which every output channel sees one input channel. Facts: HAL 1.3 types.hal,
 * DEPTHWISE_CONV_2D. With eleven operands, the type of the ninth, BOOL or INT32, decides the form.
 */
import { OperationType } from "@nnhal/types";
import { alternative, defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, tensor } from "../params.ts";
import { depthwiseWork } from "../work.ts";
import { accumulatorStore, biasOf, needsFreeOutputScale, type Store } from "./_accumulator.ts";
import { convolvedShape, type Filters, type Sliding, WORK_BETWEEN_PAUSES } from "./_convolution.ts";
import {
  checkChannelDim,
  convolutionTypes,
  dilationParams,
  ensureBias,
  implicitImagePadding,
  paddingParams,
  strideParams,
} from "./_convolution-params.ts";
import { type Image, type ImageLayout, imageLayout, readImage } from "./_image.ts";
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
    ensure(first === 1, () => `the filter's first extent is ${first} where 1 is needed`);
    ensure(
      channels === depthMultiplier * depth,
      () =>
        `the filter has ${channels} channels where ${depth} input channels * depth multiplier ${depthMultiplier} are needed`,
    );
    ensureBias(bias, channels);
    return { output: { dimensions: convolvedShape(input.dimensions, filter.dimensions, channels, args, nchw) } };
  },
  *reference({ input, filter, bias, depthMultiplier, activation, nchw, ...sliding }, { output }, context) {
    yield* convolveDepthwise(
      yield* readImage(input, nchw),
      { data: yield* widenOnce(filter, context), dimensions: filter.dimensions },
      depthMultiplier,
      biasOf(bias),
      imageLayout(output.dimensions, nchw),
      sliding,
      accumulatorStore(input, filter, bias, output, activation),
    );
  },
});

/**
 * output[b, y, x, c·multiplier + q] = bias[c·multiplier + q]
 *   + Σ image[b, y·stride + i·dilation − padding, …, c] · filter[0, i, j, c·multiplier + q]
 */
function* convolveDepthwise(
  image: Image,
  filters: Filters,
  multiplier: number,
  bias: Float64Array,
  output: ImageLayout,
  sliding: Sliding,
  store: Store,
): Generator<void, void> {
  const [, height, width, channels] = filters.dimensions;
  const sums = new Float64Array(channels);
  let work = 0;
  for (let batch = 0; batch < output.batches; batch++) {
    for (let y = 0; y < output.height; y++) {
      const top = y * sliding.strideHeight - sliding.paddingTop;
      for (let x = 0; x < output.width; x++) {
        const left = x * sliding.strideWidth - sliding.paddingLeft;
        sums.set(bias);
        for (let i = 0; i < height; i++) {
          const row = top + i * sliding.dilationHeight;
          if (row < 0 || row >= image.height) continue;
          for (let j = 0; j < width; j++) {
            const column = left + j * sliding.dilationWidth;
            if (column < 0 || column >= image.width) continue;
            const from = batch * image.batchStep + row * image.rowStep + column * image.pixelStep;
            accumulate(image.data, from, filters.data, (i * width + j) * channels, multiplier, sums);
            work += channels;
            if (work > WORK_BETWEEN_PAUSES) {
              work = 0;
              yield;
            }
          }
        }
        const start = batch * output.batchStep + y * output.rowStep + x * output.pixelStep;
        store(sums, 0, channels, start, output.channelStep);
        work += height * width + channels;
      }
    }
  }
}

/** Adds one filter cell's products: each input channel meets `multiplier` filter channels, in most models one. */
function accumulate(
  data: Float64Array,
  from: number,
  filter: Float64Array,
  at: number,
  multiplier: number,
  sums: Float64Array,
): void {
  if (multiplier === 1) {
    for (let channel = 0; channel < sums.length; channel++)
      sums[channel] += data[from + channel] * filter[at + channel];
    return;
  }
  for (let channel = 0; channel < sums.length; ) {
    const value = data[from++];
    for (const end = channel + multiplier; channel < end; channel++) sums[channel] += value * filter[at + channel];
  }
}
