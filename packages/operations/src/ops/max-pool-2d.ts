/**
 * MAX_POOL_2D: the greatest of the cells under a window. Facts: HAL 1.3 types.hal, MAX_POOL_2D.
 */
import { OperationType } from "@nnhal/types";
import { poolOperation } from "./_pooling.ts";

export const maxPool2d = poolOperation(
  {
    name: "MAX_POOL_2D",
    code: OperationType.MAX_POOL_2D,
    summary: "Slides a window over an image: each output is the greatest of the cells under it, padding left out.",
    types: [
      ["1.0", "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
      ["1.2", "TENSOR_FLOAT16", "TENSOR_FLOAT16"],
      ["1.0", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM"],
      ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT8_ASYMM_SIGNED"],
    ],
  },
  {
    start: Number.NEGATIVE_INFINITY,
    take(values, data, from, to, step) {
      for (let cell = from; cell <= to; cell += step) {
        for (let channel = 0; channel < values.length; channel++)
          values[channel] = Math.max(values[channel], data[cell + channel]);
      }
    },
    finish: (greatest) => greatest,
  },
);
