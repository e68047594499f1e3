/**
 * RSQRT: the reciprocal of the square root of each element.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { roundHalfAway } from "../fixed-point.ts";
import { tensor } from "../params.ts";
import { isQuant8, type TensorData } from "../tensor.ts";
import { mapByTable } from "./_table.ts";
import { rowsOfOneType } from "./_types.ts";

export const rsqrt = defineOperation({
  name: "RSQRT",
  code: OperationType.RSQRT,
  summary: "1 / √x. Quantised: the greatest element for 0 and less.",
  params: [tensor("input")],
  outputs: [tensor("output")],
  types: rowsOfOneType(2, [
    ["1.2", "TENSOR_FLOAT16"],
    ["1.2", "TENSOR_FLOAT32"],
    ["aidl3", "TENSOR_QUANT8_ASYMM"],
    ["aidl3", "TENSOR_QUANT8_ASYMM_SIGNED"],
  ]),
  work: "functionElement",
  infer: ({ input }) => ({ output: { dimensions: input.dimensions } }),
  reference({ input }, { output }) {
    if (isQuant8(input.type)) {
      return mapByTable(input, output, (steps) =>
        roundHalfAway(steps <= 0 ? Number.POSITIVE_INFINITY : 1 / Math.sqrt(steps * input.scale) / output.scale),
      );
    }
    return { units: output.data.length, compute: (first, end) => rootRange(input.data, output.data, first, end) };
  },
});

/** output = 1 / √input */
function rootRange(input: TensorData, output: TensorData, first: number, end: number): void {
  for (let index = first; index < end; index++) output[index] = 1 / Math.sqrt(input[index]);
}
