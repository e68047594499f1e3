/**
 * ROI_POOLING: the greatest value in each bin of each region of interest, whose corners are rounded to pixels.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { bool, tensor } from "../params.ts";
import { pacer } from "./_chunks.ts";
import { imageLayout } from "./_image.ts";
import { realValues } from "./_real.ts";
import { pixelBins, regionParams, regionReader, regionsShape, regionTypes } from "./_regions.ts";

export const roiPooling = defineOperation({
  name: "ROI_POOLING",
  code: OperationType.ROI_POOLING,
  summary: "Resamples regions of interest to one size: the greatest value in each bin.",
  params: [...regionParams, bool("nchw")],
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
    const isTime = pacer();
    const regionAt = regionReader(input, yield* realValues(regions), batches, settings);
    // All regions are checked before anything is computed.
    for (let index = 0; index < regions.dimensions[0]; index++) {
      regionAt(index);
      if (isTime(4)) yield;
    }
    for (let index = 0; index < regions.dimensions[0]; index++) {
      const { batch, x1, y1, x2, y2 } = regionAt(index);
      const columns = pixelBins(x1, x2, outputWidth, width);
      for (const [i, [rowStart, rowEnd]] of pixelBins(y1, y2, outputHeight, height).entries()) {
        for (const [j, [columnStart, columnEnd]] of columns.entries()) {
          let to = index * out.batchStep + i * out.rowStep + j * out.pixelStep;
          for (let channel = 0; channel < channels; channel++) {
            let most = Number.NEGATIVE_INFINITY;
            for (let row = rowStart; row < rowEnd; row++) {
              let from = batch * batchStep + row * rowStep + columnStart * pixelStep + channel * channelStep;
              for (let column = columnStart; column < columnEnd; column++) {
                if (data[from] > most) most = data[from];
                from += pixelStep;
              }
              if (isTime(columnEnd - columnStart)) yield;
            }
            output.data[to] = most === Number.NEGATIVE_INFINITY ? zeroPoint : most;
            to += out.channelStep;
          }
          if (isTime(channels)) yield;
        }
      }
    }
  },
});
