/**
 * MATRIX_DIAG: matrices with given diagonals and zeros elsewhere.
 */
import { defineOperation } from "../define.ts";
import { mayStayZero, tensor, wide } from "../params.ts";
import { copyDiagonals } from "./_diagonal.tflite.ts";
import { movedInfo } from "./_moved.ts";
import { packTypes } from "./_types.tflite.ts";

export const matrixDiag = defineOperation({
  name: "MATRIX_DIAG",
  code: 1113,
  summary: "Matrices with given diagonals and zeros elsewhere.",
  params: [wide(tensor("diagonal"))],
  outputs: [mayStayZero(wide(tensor("output")))],
  types: packTypes.map((type) => ["1.2", type, type] as const),
  ranks: { diagonal: [1, Number.POSITIVE_INFINITY] },
  infer: ({ diagonal }) => ({
    output: movedInfo(diagonal, [...diagonal.dimensions, diagonal.dimensions[diagonal.dimensions.length - 1]]),
  }),
  reference: ({ diagonal }, { output }) => copyDiagonals(diagonal, output),
});
