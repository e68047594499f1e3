/**
 * RESIZE_NEAREST_NEIGHBOR: an image in another size, each pixel the nearest of the input's. Facts: HAL 1.3 types.hal,
 * RESIZE_NEAREST_NEIGHBOR. The size is given as width, height or as their ratios.
 */
import { OperationType } from "@nnhal/types";
import { bool } from "../params.ts";
import type { OutputTensor, Tensor } from "../tensor.ts";
import { pacer } from "./_chunks.ts";
import { WORK_BETWEEN_PAUSES } from "./_convolution.ts";
import { imageLayout } from "./_image.ts";
import { nearestSource, type ResizeAlignment, resizeOperation } from "./_resize.ts";

export const resizeNearestNeighbor = resizeOperation(
  {
    name: "RESIZE_NEAREST_NEIGHBOR",
    code: OperationType.RESIZE_NEAREST_NEIGHBOR,
    summary: "Resizes images; every pixel is the nearest one of the input.",
  },
  "1.2",
  bool("nchw"),
  resampleNearest,
);

/** output[b, y, x, c] = input[b, row of y, column of x, c] */
function* resampleNearest(input: Tensor, output: OutputTensor, nchw: boolean, alignment: ResizeAlignment) {
  const from = imageLayout(input.dimensions, nchw);
  const to = imageLayout(output.dimensions, nchw);
  const rows = yield* nearestIndexes(from.height, to.height, alignment);
  const columns = yield* nearestIndexes(from.width, to.width, alignment);
  let work = 0;
  for (let batch = 0; batch < to.batches; batch++) {
    for (let y = 0; y < to.height; y++) {
      for (let x = 0; x < to.width; x++) {
        let source = batch * from.batchStep + rows[y] * from.rowStep + columns[x] * from.pixelStep;
        let target = batch * to.batchStep + y * to.rowStep + x * to.pixelStep;
        for (let channel = 0; channel < to.channels; channel++) {
          output.data[target] = input.data[source];
          source += from.channelStep;
          target += to.channelStep;
        }
        work += to.channels;
        if (work > WORK_BETWEEN_PAUSES) {
          work = 0;
          yield;
        }
      }
    }
  }
}

/** Along one axis, the input's index for each of the output's. */
function* nearestIndexes(input: number, output: number, alignment: ResizeAlignment): Generator<void, Int32Array> {
  const sourceOf = nearestSource(input, output, alignment);
  const indexes = new Int32Array(output);
  const isTime = pacer();
  for (let index = 0; index < output; index++) {
    indexes[index] = sourceOf(index);
    if (isTime(1)) yield;
  }
  return indexes;
}
