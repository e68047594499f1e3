/**
 * RESIZE_NEAREST_NEIGHBOR: an image in another size, each pixel the nearest of the input's. Facts: HAL 1.3 types.hal,
 * RESIZE_NEAREST_NEIGHBOR. The size is given as width, height or as their ratios.
 */
import { OperationType } from "@nnhal/types";
import { bool } from "../params.ts";
import type { Phase } from "../phases.ts";
import type { OutputTensor, Tensor } from "../tensor.ts";
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
function resampleNearest(input: Tensor, output: OutputTensor, nchw: boolean, alignment: ResizeAlignment): Phase {
  const from = imageLayout(input.dimensions, nchw);
  const to = imageLayout(output.dimensions, nchw);
  const rowOf = nearestSource(from.height, to.height, alignment);
  const columnOf = nearestSource(from.width, to.width, alignment);
  const rows = Int32Array.from({ length: to.height }, (_, y) => rowOf(y));
  const columns = Int32Array.from({ length: to.width }, (_, x) => columnOf(x));
  const compute = (first: number, end: number) => {
    for (let pixel = first; pixel < end; pixel++) {
      const x = pixel % to.width;
      const y = Math.floor(pixel / to.width) % to.height;
      const batch = Math.floor(pixel / (to.width * to.height));
      let source = batch * from.batchStep + rows[y] * from.rowStep + columns[x] * from.pixelStep;
      let target = batch * to.batchStep + y * to.rowStep + x * to.pixelStep;
      for (let channel = 0; channel < to.channels; channel++) {
        output.data[target] = input.data[source];
        source += from.channelStep;
        target += to.channelStep;
      }
    }
  };
  return { units: to.batches * to.height * to.width, cost: 4 * (to.channels + 1), apart: true, compute };
}
