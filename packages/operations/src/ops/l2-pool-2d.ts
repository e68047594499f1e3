/**
 * L2_POOL_2D: the root of the mean square of the cells under a window. Facts: HAL 1.3 types.hal, L2_POOL_2D.
 */
import { OperationType } from "@nnhal/types";
import { addCells, poolOperation } from "./_pooling.ts";

export const l2Pool2d = poolOperation(
  {
    name: "L2_POOL_2D",
    code: OperationType.L2_POOL_2D,
    summary: "Slides a window over an image: each output is √(mean square) of the cells under it, padding left out.",
    types: [
      ["1.0", "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
      ["1.2", "TENSOR_FLOAT16", "TENSOR_FLOAT16"],
    ],
  },
  {
    start: 0,
    take(values, at, channels, data, from, count, step) {
      for (let cell = 0, begin = from; cell < count; cell++, begin += step) {
        for (let channel = 0; channel < channels; channel++) values[at + channel] += data[begin + channel] ** 2;
      }
    },
    join: addCells,
    finish: (sum, count) => Math.sqrt(sum / count),
  },
);
