/**
 * DEQUANTIZE of 16-bit elements, and of more than 4 axes.
 */
import type { TypeRow } from "@nnhal/operations";
import { withQuantisation } from "../_elements.ts";
import { anyRank } from "../_elementwise.ts";
import { numbersIn } from "../_integers.ts";
import { wider } from "../_wider.ts";
import { tfliteTypes } from "../types.ts";
import { channelsOf } from "./_channels.ts";

const types = [
  "TENSOR_QUANT8_ASYMM",
  "TENSOR_QUANT8_ASYMM_SIGNED",
  "TENSOR_QUANT8_SYMM_PER_CHANNEL",
  "TENSOR_QUANT16_SYMM",
  tfliteTypes.TENSOR_QUANT16_ASYMM_SIGNED,
] as const;

export const dequantize = wider("DEQUANTIZE", {
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
