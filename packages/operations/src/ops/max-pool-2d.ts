/**
 * MAX_POOL_2D: the greatest of the cells under a window. Facts: HAL 1.3 types.hal, MAX_POOL_2D.
 */
import { OperationType } from "@nnhal/types";
import { type Pooling, poolOperation } from "./_pooling.ts";

const greatestCells: Pooling["take"] = (values, at, channels, data, from, count, step) => {
  for (let cell = 0, begin = from; cell < count; cell++, begin += step) {
    for (let channel = 0; channel < channels; channel++)
      values[at + channel] = Math.max(values[at + channel], data[begin + channel]);
  }
};

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
    take: greatestCells,
    join: greatestCells,
    finish: (greatest) => greatest,
  },
);
