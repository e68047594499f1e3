/**
 * SELECT_V2: takes each element from one of two tensors; all three tensors broadcast. Elements are copied as they are stored.
 */
import { broadcastShape, defineOperation, tensor, wide } from "@nnhal/operations/authoring";
import { broadcastData, inChunks } from "@nnhal/operations/kernels";
import { movesComplex } from "../_complex.ts";
import { movable } from "../_integers.ts";
import { filledData } from "../_phases.ts";
import { realTypes } from "../_types.ts";

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
    *reference({ condition, whenTrue, whenFalse }, { output }) {
      const { dimensions } = output;
      const flags = yield* filledData(broadcastData(condition, dimensions));
      const yes = yield* filledData(broadcastData({ ...whenTrue, data: movable(whenTrue.data) }, dimensions));
      const no = yield* filledData(broadcastData({ ...whenFalse, data: movable(whenFalse.data) }, dimensions));
      yield* inChunks(output.data.length, (part) => {
        const [chosen, a, b, to] = [part(flags), part(yes), part(no), part(movable(output.data))];
        for (let index = 0; index < to.length; index++) to[index] = chosen[index] ? a[index] : b[index];
      });
    },
  }),
);
