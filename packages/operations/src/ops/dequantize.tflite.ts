/**
 * DEQUANTIZE of 16-bit elements, and of more than 4 axes.
 */

import type { TypeRow } from "../define.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { channelsOf } from "./_channels.tflite.ts";
import { withQuantisation } from "./_elements.tflite.ts";
import { anyRank } from "./_elementwise.tflite.ts";
import { numbersIn } from "./_integers.tflite.ts";
import { wider } from "./_wider.tflite.ts";
import { dequantize as base } from "./dequantize.ts";

const types = [
  "TENSOR_QUANT8_ASYMM",
  "TENSOR_QUANT8_ASYMM_SIGNED",
  "TENSOR_QUANT8_SYMM_PER_CHANNEL",
  "TENSOR_QUANT16_SYMM",
  tfliteTypes.TENSOR_QUANT16_ASYMM_SIGNED,
] as const;

export const dequantize = wider(base, {
  from: "TENSOR_FLOAT32",
  types: [],
  rows: types.map((type): TypeRow => ["1.2", type, "TENSOR_FLOAT32"]),
  ranks: { input: anyRank },
  reference({ input: given }, { output }) {
    const input = withQuantisation(given);
    const [from, to] = [numbersIn(input.data), numbersIn(output.data)];
    const scaleOf = channelsOf(input);
    const { zeroPoint } = input;
    return {
      units: to.length,
      compute(first, end) {
        for (let index = first; index < end; index++) to[index] = (from[index] - zeroPoint) * scaleOf(index);
      },
    };
  },
});
