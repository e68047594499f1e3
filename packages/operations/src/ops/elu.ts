/**
 * ELU: the exponential linear unit.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { scalar, tensor } from "../params.ts";

export const elu = defineOperation({
  name: "ELU",
  code: OperationType.ELU,
  summary: "max(0, x) + min(0, alpha · (exp(x) - 1)).",
  params: [tensor("input"), scalar("alpha")],
  outputs: [tensor("output")],
  types: [
    ["1.3", "TENSOR_FLOAT16", "FLOAT16", "TENSOR_FLOAT16"],
    ["1.3", "TENSOR_FLOAT32", "FLOAT32", "TENSOR_FLOAT32"],
  ],
  work: "functionElement",
  infer: ({ input }) => ({ output: { dimensions: input.dimensions } }),
  reference({ input, alpha }, { output }) {
    return {
      units: output.data.length,
      compute(first, end) {
        for (let index = first; index < end; index++) {
          const x = input.data[index];
          output.data[index] = Math.max(0, x) + Math.min(0, alpha * Math.expm1(x));
        }
      },
    };
  },
});
