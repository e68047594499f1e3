/**
 * MATRIX_DIAG: matrices with given diagonals and zeros elsewhere.
 */
import { defineOperation, mayStayZero, tensor, wide } from "@nnhal/operations/authoring";
import { movedInfo } from "@nnhal/operations/kernels";
import { copyDiagonals } from "../_diagonal.ts";
import { packTypes } from "../_types.ts";

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
