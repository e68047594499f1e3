/**
 * POW: one tensor to the power of another.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { tensor } from "../params.ts";
import { broadcastData, inferBroadcast, pairPhases } from "./_broadcast.ts";
import { rowsOfOneType } from "./_types.ts";

export const pow = defineOperation({
  name: "POW",
  code: OperationType.POW,
  summary: "The first tensor to the power of the second, which broadcast.",
  params: [tensor("base"), tensor("exponent")],
  outputs: [tensor("output")],
  types: rowsOfOneType(3, [
    ["1.2", "TENSOR_FLOAT16"],
    ["1.2", "TENSOR_FLOAT32"],
  ]),
  broadcasts: ["base", "exponent"],
  work: "functionElement",
  infer: ({ base, exponent }) => inferBroadcast(base, exponent),
  reference({ base, exponent }, { output }) {
    const operands = [base, exponent].map((operand) => broadcastData(operand, output.dimensions));
    return pairPhases(operands, output.data, (bases, exponents, result, first, end) => {
      for (let index = first; index < end; index++) result[index] = power(bases[index], exponents[index]);
    });
  },
});

/** The power of IEEE 754, where 1 to any power is 1, and so is -1 to an infinite one; `**` returns NaN. */
function power(base: number, exponent: number): number {
  if (base === 1 || (base === -1 && Math.abs(exponent) === Number.POSITIVE_INFINITY)) return 1;
  return base ** exponent;
}
