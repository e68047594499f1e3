/**
 * ROI_POOLING: the greatest value in each bin of each region of interest, whose corners are rounded to pixels.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { roundHalfAway } from "../fixed-point.ts";
import { bool, int32, scalar, tensor } from "../params.ts";
import { imageAxes } from "../window.ts";
import { regionsShape, regionTypes, scaledRegions } from "./_regions.ts";

export const roiPooling = defineOperation({
  name: "ROI_POOLING",
  code: OperationType.ROI_POOLING,
  summary: "Resamples regions of interest to one size: the greatest value in each bin.",
  params: [
    tensor("input"),
    tensor("regions"),
    tensor("batches", "TENSOR_INT32"),
    int32("outputHeight"),
    int32("outputWidth"),
    scalar("heightStride"),
    scalar("widthStride"),
    bool("nchw"),
  ],
  outputs: [tensor("output")],
  types: regionTypes,
  ranks: { input: 4, regions: 2, batches: 1 },
  infer({ input, regions, batches, ...settings }) {
    const { scale, zeroPoint } = input;
    return { output: { dimensions: regionsShape(input, regions, batches, settings), scale, zeroPoint } };
  },
  *reference({ input, regions, batches, ...settings }, { output }) {
    const { nchw, outputHeight, outputWidth } = settings;
    const axes = imageAxes(nchw);
    const height = input.dimensions[axes.height];
    const width = input.dimensions[axes.width];
    const channels = input.dimensions[axes.channel];
    const pixelStep = nchw ? 1 : channels;
    const channelStep = nchw ? height * width : 1;
    const outChannelStep = nchw ? outputHeight * outputWidth : 1;
    for (const [index, { batch, x1, y1, x2, y2 }] of scaledRegions(input, regions, batches, settings).entries()) {
      const left = roundHalfAway(x1);
      const top = roundHalfAway(y1);
      const binWidth = Math.max(roundHalfAway(x2) - left + 1, 1) / outputWidth;
      const binHeight = Math.max(roundHalfAway(y2) - top + 1, 1) / outputHeight;
      const imageStart = batch * height * width * channels;
      for (let i = 0; i < outputHeight; i++) {
        const [rowStart, rowEnd] = bin(top, binHeight, i, height);
        for (let j = 0; j < outputWidth; j++) {
          const [columnStart, columnEnd] = bin(left, binWidth, j, width);
          const to = index * outputHeight * outputWidth * channels + (i * outputWidth + j) * pixelStep;
          for (let channel = 0; channel < channels; channel++) {
            let most = Number.NEGATIVE_INFINITY;
            for (let row = rowStart; row < rowEnd; row++) {
              for (let column = columnStart; column < columnEnd; column++) {
                const from = imageStart + (row * width + column) * pixelStep + channel * channelStep;
                most = Math.max(most, input.data[from]);
              }
            }
            output.data[to + channel * outChannelStep] = most === Number.NEGATIVE_INFINITY ? input.zeroPoint : most;
          }
          yield;
        }
      }
    }
  },
});

/** First pixel of a bin and the one behind its last, within the feature map. */
function bin(start: number, size: number, index: number, extent: number): readonly [first: number, end: number] {
  // The float32 product keeps bins of equal size from straying over a pixel's border.
  const first = Math.floor(Math.fround(size) * index + start);
  const end = Math.ceil(Math.fround(Math.fround(size) * (index + 1)) + start);
  return [Math.min(first, extent), Math.min(end, extent)];
}
