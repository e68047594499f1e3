/**
 * SELECT_V2: takes each element from one of two tensors; all three tensors broadcast. Elements are copied as they are stored.
 */

import { defineOperation } from "../define.ts";
import { tensor, wide } from "../params.ts";
import { broadcastShape } from "../shape.ts";
import { broadcastData } from "./_broadcast.ts";
import { movesComplex } from "./_complex.tflite.ts";
import { movable } from "./_integers.tflite.ts";
import { realTypes } from "./_types.tflite.ts";

export const selectV2 = movesComplex(
  defineOperation({
    name: "SELECT_V2",
    code: 1123,
    summary: "Elements of one tensor where a condition is true, of another where it is false; the three broadcast.",
    params: [tensor("condition", "TENSOR_BOOL8"), wide(tensor("whenTrue")), wide(tensor("whenFalse"))],
    outputs: [wide(tensor("output"))],
    types: realTypes.map((type) => ["1.2", type, type, type] as const),
    infer: ({ condition, whenTrue, whenFalse }) => ({
      output: {
        dimensions: broadcastShape(condition.dimensions, broadcastShape(whenTrue.dimensions, whenFalse.dimensions)),
      },
    }),
    reference({ condition, whenTrue, whenFalse }, { output }) {
      const sources = [condition, whenTrue, whenFalse].map((source) =>
        broadcastData({ ...source, data: movable(source.data) }, output.dimensions),
      );
      const [flags, yes, no] = sources.map(({ data }) => data);
      const to = movable(output.data);
      const compute = (first: number, end: number) => {
        for (let index = first; index < end; index++) to[index] = flags[index] ? yes[index] : no[index];
      };
      return [...sources.flatMap(({ phases }) => phases), { units: to.length, compute }];
    },
  }),
);
