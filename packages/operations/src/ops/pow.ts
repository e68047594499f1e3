/**
 * POW: one tensor to the power of another.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { tensor } from "../params.ts";
import { broadcastData, inferBroadcast } from "./_broadcast.ts";
import { inChunks } from "./_chunks.ts";
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
  *reference({ base, exponent }, { output }) {
    const bases = yield* broadcastData(base, output.dimensions);
    const exponents = yield* broadcastData(exponent, output.dimensions);
    yield* inChunks(output.data.length, (part) => {
      const [from, to, results] = [part(bases), part(exponents), part(output.data)];
      for (let index = 0; index < results.length; index++) results[index] = power(from[index], to[index]);
    });
  },
});

/** The power of IEEE 754, where 1 to any power is 1, and so is -1 to an infinite one; `**` returns NaN. */
function power(base: number, exponent: number): number {
  if (base === 1 || (base === -1 && Math.abs(exponent) === Number.POSITIVE_INFINITY)) return 1;
  return base ** exponent;
}
