/**
 * LOGISTIC: the sigmoid function. A quantised output has scale 1/256 and the least value as its zero point.
 */
import { fixedPoint32 } from "../fixed-point-functions.ts";
import { defineSquashing } from "./_squashing.ts";

export const logistic = defineSquashing({
  name: "LOGISTIC",
  summary: "1 / (1 + exp(-x)).",
  quantisedSince: "1.0",
  outputBits: 8,
  outputZeroPoint: 0,
  float(input, output, first, end) {
    for (let index = first; index < end; index++) output[index] = 1 / (1 + Math.exp(-input[index]));
  },
  computeFixed: fixedPoint32.logistic,
});
