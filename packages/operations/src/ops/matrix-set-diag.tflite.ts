/**
 * MATRIX_SET_DIAG: matrices with other diagonals.
 */
import { defineOperation } from "../define.ts";
import { tensor, wide } from "../params.ts";
import { ensureShape } from "../shape.ts";
import { copyElements } from "./_copies.ts";
import { copyDiagonals } from "./_diagonal.tflite.ts";
import { movable } from "./_integers.tflite.ts";
import { movedInfo } from "./_moved.ts";
import { packTypes } from "./_types.tflite.ts";

export const matrixSetDiag = defineOperation({
  name: "MATRIX_SET_DIAG",
  code: 1115,
  summary: "Matrices with other diagonals.",
  params: [wide(tensor("input")), wide(tensor("diagonal"))],
  outputs: [wide(tensor("output"))],
  types: packTypes.map((type) => ["1.2", type, type, type] as const),
  ranks: { input: [2, Number.POSITIVE_INFINITY] },
  infer({ input, diagonal }) {
    const { dimensions } = input;
    ensureShape("the diagonal", diagonal, [...dimensions.slice(0, -2), Math.min(...dimensions.slice(-2))]);
    return { output: movedInfo(input, dimensions) };
  },
  reference: ({ input, diagonal }, { output }) => [
    copyElements(movable(input.data), movable(output.data)),
    copyDiagonals(diagonal, output),
  ],
});
