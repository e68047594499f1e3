/**
 * ROI_POOLING: the greatest value in each bin of each region of interest, whose corners are rounded to pixels.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { roundHalfAway } from "../fixed-point.ts";
import { bool, int32, scalar, tensor } from "../params.ts";
import { WORK_BETWEEN_PAUSES } from "./_convolution.ts";
import { imageLayout } from "./_image.ts";
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
    const { height, width, channels, batchStep, rowStep, pixelStep, channelStep } = imageLayout(input.dimensions, nchw);
    const out = imageLayout(output.dimensions, nchw);
    const { data, zeroPoint } = input;
    let work = 0;
    for (const [index, { batch, x1, y1, x2, y2 }] of scaledRegions(input, regions, batches, settings).entries()) {
      const left = roundHalfAway(x1);
      const top = roundHalfAway(y1);
      const binWidth = Math.max(roundHalfAway(x2) - left + 1, 1) / outputWidth;
      const binHeight = Math.max(roundHalfAway(y2) - top + 1, 1) / outputHeight;
      for (let i = 0; i < outputHeight; i++) {
        const [rowStart, rowEnd] = bin(top, binHeight, i, height);
        for (let j = 0; j < outputWidth; j++) {
          const [columnStart, columnEnd] = bin(left, binWidth, j, width);
          let to = index * out.batchStep + i * out.rowStep + j * out.pixelStep;
          for (let channel = 0; channel < channels; channel++) {
            let most = Number.NEGATIVE_INFINITY;
            for (let row = rowStart; row < rowEnd; row++) {
              let from = batch * batchStep + row * rowStep + columnStart * pixelStep + channel * channelStep;
              for (let column = columnStart; column < columnEnd; column++) {
                if (data[from] > most) most = data[from];
                from += pixelStep;
              }
            }
            output.data[to] = most === Number.NEGATIVE_INFINITY ? zeroPoint : most;
            to += out.channelStep;
          }
          work += ((rowEnd - rowStart) * (columnEnd - columnStart) + 1) * channels;
          if (work > WORK_BETWEEN_PAUSES) {
            work = 0;
            yield;
          }
        }
      }
    }
  },
});

/** First pixel of a bin and the one behind its last, within the feature map. */
function bin(start: number, size: number, index: number, extent: number): readonly [first: number, end: number] {
  // Borders are computed in float32, as in the HAL's reference: so a whole number stays one.
  const border = (at: number) => Math.fround(Math.fround(Math.fround(size) * at) + start);
  return [Math.min(Math.floor(border(index)), extent), Math.min(Math.ceil(border(index + 1)), extent)];
}
