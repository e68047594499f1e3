/**
 * AVERAGE_POOL_2D: the mean of the cells under a window. Facts: HAL 1.3 types.hal, AVERAGE_POOL_2D.
 */
import { OperationType } from "@nnhal/types";
import { addCells, poolOperation } from "./_pooling.ts";

export const averagePool2d = poolOperation(
  {
    name: "AVERAGE_POOL_2D",
    code: OperationType.AVERAGE_POOL_2D,
    summary: "Slides a window over an image: each output is the mean of the cells under it, padding left out.",
    types: [
      ["1.0", "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
      ["1.2", "TENSOR_FLOAT16", "TENSOR_FLOAT16"],
      ["1.0", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM"],
      ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT8_ASYMM_SIGNED"],
    ],
  },
  {
    start: 0,
    take: addCells,
    join: addCells,
    finish: (sum, count) => sum / count,
  },
);
