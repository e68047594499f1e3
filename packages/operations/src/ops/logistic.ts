/**
 * LOGISTIC: the sigmoid function. A quantised output has scale 1/256 and the least value as its zero point.
 */
import { fixedPoint32 } from "../fixed-point-functions.ts";
import { squashing } from "./_squashing.ts";

export const logistic = squashing({
  name: "LOGISTIC",
  summary: "1 / (1 + exp(-x)).",
  quantisedSince: "1.0",
  outputBits: 8,
  outputZeroPoint: 0,
  float(input, output, first, end) {
    for (let index = first; index < end; index++) output[index] = 1 / (1 + Math.exp(-input[index]));
  },
  fixed: fixedPoint32.logistic,
});
