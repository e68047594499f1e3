/**
 * TANH: the hyperbolic tangent. A quantised output has scale 1/128 and the middle value as its zero point.
 */
import { fixedPoint32 } from "../fixed-point-functions.ts";
import { defineSquashing } from "./_squashing.ts";

export const tanh = defineSquashing({
  name: "TANH",
  summary: "The hyperbolic tangent of x.",
  quantisedSince: "1.2",
  outputBits: 7,
  outputZeroPoint: 128,
  float(input, output, first, end) {
    for (let index = first; index < end; index++) output[index] = Math.tanh(input[index]);
  },
  computeFixed: fixedPoint32.tanh,
});
