/**
 * QUANTIZE: real numbers in the output's scale and zero point.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { clamp, roundHalfAway } from "../fixed-point.ts";
import { tensor } from "../params.ts";
import { integerRange } from "../tensor.ts";

export const quantize = defineOperation({
  name: "QUANTIZE",
  code: OperationType.QUANTIZE,
  summary: "round(x / scale) + zeroPoint, within the output's type.",
  params: [tensor("input")],
  outputs: [tensor("output")],
  types: [
    ["1.2", "TENSOR_FLOAT16", "TENSOR_QUANT8_ASYMM"],
    ["1.2", "TENSOR_FLOAT32", "TENSOR_QUANT8_ASYMM"],
    ["1.3", "TENSOR_FLOAT16", "TENSOR_QUANT8_ASYMM_SIGNED"],
    ["1.3", "TENSOR_FLOAT32", "TENSOR_QUANT8_ASYMM_SIGNED"],
  ],
  infer: ({ input }) => ({ output: { dimensions: input.dimensions } }),
  reference({ input }, { output }) {
    const [least, greatest] = integerRange(output.type);
    const { data, scale, zeroPoint } = output;
    return {
      units: data.length,
      apart: true,
      compute(first, end) {
        for (let index = first; index < end; index++) {
          // The quotient is a float32 in the reference: which side of a half it falls on may depend on it.
          const units = roundHalfAway(Math.fround(input.data[index] / scale));
          data[index] = clamp(units + zeroPoint, least, greatest);
        }
      },
    };
  },
});
