/**
 * CAST: the same numbers in another type. Quantised elements count as the integers they are stored as; fractions are
 * truncated, and a number outside the output's type becomes the nearest value inside.
 */
import { type OperandTypeName, OperationType } from "@nnhal/types";
import { defineOperation, type RowOfLength } from "../define.ts";
import { clamp } from "../fixed-point.ts";
import { tensor } from "../params.ts";
import { combineDimensions, formatShape } from "../shape.ts";
import { integerRange, isFloat } from "../tensor.ts";
import { copyElements } from "./_copies.ts";
import { rowsOfOneType } from "./_types.ts";

const convertible: readonly OperandTypeName[] = [
  "TENSOR_FLOAT16",
  "TENSOR_FLOAT32",
  "TENSOR_INT32",
  "TENSOR_QUANT8_ASYMM",
];

export const cast = defineOperation({
  name: "CAST",
  code: OperationType.CAST,
  summary: "The same numbers in another type.",
  params: [tensor("input")],
  outputs: [tensor("output")],
  types: [
    ...convertible.flatMap((from) => convertible.map((to): RowOfLength<2> => ["1.2", from, to])),
    ...rowsOfOneType(2, [
      ["1.3", "TENSOR_BOOL8"],
      ["1.3", "TENSOR_QUANT16_ASYMM"],
      ["1.3", "TENSOR_QUANT16_SYMM"],
      ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED"],
      ["1.3", "TENSOR_QUANT8_SYMM"],
    ]),
  ],
  check({ input }, { output }) {
    if (combineDimensions(input.dimensions, output.dimensions) !== undefined) return undefined;
    return `the output: expected the input's shape ${formatShape(input.dimensions)}, got ${formatShape(output.dimensions)}`;
  },
  infer: ({ input }) => ({ output: { dimensions: input.dimensions } }),
  reference({ input }, { output }) {
    const { data } = output;
    if (input.type === output.type || isFloat(output.type)) {
      return copyElements(input.data, data);
    }
    const [least, greatest] = integerRange(output.type);
    return {
      units: data.length,
      compute(first, end) {
        for (let index = first; index < end; index++) {
          data[index] = Math.trunc(clamp(input.data[index], least, greatest));
        }
      },
    };
  },
});
