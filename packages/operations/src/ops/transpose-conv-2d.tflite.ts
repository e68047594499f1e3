/**
 * TRANSPOSE_CONV_2D for the types of .tflite: INT16 activations, no bias, and any shape of the result. The operands are those of the
 * HAL's operation, of which an output shape holds here in full: what lies beyond it is left out, and what no filter reaches is the
 * bias.
 */

import { OperationType } from "@nnhal/types";
import { alternative, defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { bool, int32, omittable, read, tensor, wide } from "../params.ts";
import { formatShape } from "../shape.ts";
import { imageAxes, implicitPadding } from "../window.ts";
import { filterWork } from "../work.ts";
import { checkChannelDim, ensureDepth, paddingParams, strideParams } from "./_convolution-params.ts";
import { imageDimensions, imageLayout } from "./_image.ts";
import { ensureBiasCount, imageLayerOf, layerTypes } from "./_layers.tflite.ts";
import { spread, spreadExtent } from "./_spread.ts";

const operands = [tensor("input"), tensor("filter"), omittable(wide(tensor("bias")))] as const;
const last = [...strideParams, int32("activation"), bool("nchw")] as const;

export const transposeConv2d = defineOperation({
  name: "TRANSPOSE_CONV_2D",
  code: OperationType.TRANSPOSE_CONV_2D,
  summary: "Spreads a filter over the output for every element of the input: the transpose of a convolution.",
  params: [...operands, ...paddingParams, ...last],
  outputs: [tensor("output")],
  types: layerTypes,
  ranks: { input: 4, filter: 4 },
  alternatives: [
    alternative({
      params: [...operands, read(tensor("outputShape", "TENSOR_INT32")), int32("paddingScheme"), ...last],
      normalise({ input, filter, nchw, strideHeight, strideWidth, outputShape, paddingScheme }) {
        const { dimensions, data } = outputShape;
        ensure(
          dimensions.length === 1 && data.length === 4,
          () => `the output shape: expected 4 elements, got ${formatShape(dimensions)}`,
        );
        const [channels, filterHeight, filterWidth] = filter.dimensions;
        const image = imageLayout(input.dimensions, nchw);
        const axes = imageAxes(nchw);
        ensure(
          data[axes.batch] === image.batches && data[axes.channel] === channels,
          () =>
            `the output shape: expected ${image.batches} batches and ${channels} channels, got ${data[axes.batch]} and ${data[axes.channel]}`,
        );
        const along = (axis: string, output: number, from: number, stride: number, window: number) => {
          ensure(output >= 1, () => `the output's ${axis} is ${output}, less than 1`);
          const [before] = implicitPadding(paddingScheme, output, stride, window);
          return [before, (from - 1) * stride + window - before - output] as const;
        };
        const [paddingTop, paddingBottom] = along(
          "height",
          data[axes.height],
          image.height,
          strideHeight,
          filterHeight,
        );
        const [paddingLeft, paddingRight] = along("width", data[axes.width], image.width, strideWidth, filterWidth);
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
    ensureBiasCount(bias, channels);
    const { paddingTop, paddingBottom, paddingLeft, paddingRight, strideHeight, strideWidth } = padded;
    const height = spreadExtent("height", image.height, filterHeight, strideHeight, paddingTop, paddingBottom);
    const width = spreadExtent("width", image.width, filterWidth, strideWidth, paddingLeft, paddingRight);
    return { output: { dimensions: imageDimensions({ batches: image.batches, height, width, channels }, nchw) } };
  },
  reference(args, { output }, context) {
    const form = { rows: 1, asymmetric: false };
    const layer = imageLayerOf(args, args.filter.dimensions[0], output, form, context);
    const { pixels, filters, bias, layout, store, phases } = layer;
    return [...phases, spread(pixels, filters, bias, layout, args, store)];
  },
});
