/**
 * ROI_POOLING: the greatest value in each bin of each region of interest, whose corners are rounded to pixels.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { bool, tensor } from "../params.ts";
import type { Tensor, TensorData } from "../tensor.ts";
import { type ImageLayout, imageLayout } from "./_image.ts";
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
  reference({ input, regions, batches, ...settings }, { output }) {
    const corners = realValues(regions);
    const regionAt = regionReader(input, corners.data, batches, settings);
    const image = imageLayout(input.dimensions, settings.nchw);
    const out = imageLayout(output.dimensions, settings.nchw);
    // All regions are checked before anything is computed.
    const check = (first: number, end: number) => {
      for (let index = first; index < end; index++) regionAt(index);
    };
    // A unit is a bin of a region.
    const compute = (first: number, end: number) => {
      for (let bin = first; bin < end; bin++) {
        const index = Math.floor(bin / (out.height * out.width));
        const [i, j] = [Math.floor(bin / out.width) % out.height, bin % out.width];
        const { batch, x1, y1, x2, y2 } = regionAt(index);
        const rows = pixelBins(y1, y2, out.height, image.height)[i];
        const columns = pixelBins(x1, x2, out.width, image.width)[j];
        const to = index * out.batchStep + i * out.rowStep + j * out.pixelStep;
        poolBin(input, image, batch, rows, columns, output.data, to, out.channelStep);
      }
    };
    const [count] = regions.dimensions;
    const cells = (image.height / out.height + 1) * (image.width / out.width + 1);
    const cost = 4 * cells * image.channels + 16 * (out.height + out.width);
    return [
      ...corners.phases,
      { units: count, cost: 16, compute: check },
      { units: count * out.height * out.width, cost, apart: true, compute },
    ];
  },
});

/** output[to + c·step] = the greatest element of channel c in the rows and columns of a bin; of an empty bin 0. */
function poolBin(
  { data, zeroPoint }: Tensor,
  image: ImageLayout,
  batch: number,
  [rowStart, rowEnd]: readonly [number, number],
  [columnStart, columnEnd]: readonly [number, number],
  output: TensorData,
  to: number,
  step: number,
): void {
  for (let channel = 0; channel < image.channels; channel++) {
    let most = Number.NEGATIVE_INFINITY;
    for (let row = rowStart; row < rowEnd; row++) {
      let from = batch * image.batchStep + row * image.rowStep + columnStart * image.pixelStep;
      from += channel * image.channelStep;
      for (let column = columnStart; column < columnEnd; column++, from += image.pixelStep) {
        if (data[from] > most) most = data[from];
      }
    }
    output[to + channel * step] = most === Number.NEGATIVE_INFINITY ? zeroPoint : most;
  }
}
