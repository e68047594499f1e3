/**
 * ZEROS_LIKE: zeros in the shape of a tensor.
 */
import { defineOperation } from "../define.ts";
import { mayStayZero, tensor, wide } from "../params.ts";
import { tfliteTypes } from "../tflite-types.ts";

export const zerosLike = defineOperation({
  name: "ZEROS_LIKE",
  code: 1093,
  summary: "Zeros in the shape and type of a tensor.",
  params: [wide(tensor("input"))],
  outputs: [mayStayZero(wide(tensor("output")))],
  types: (["TENSOR_FLOAT32", "TENSOR_INT32", tfliteTypes.TENSOR_INT64] as const).map(
    (type) => ["1.2", type, type] as const,
  ),
  infer: ({ input: { dimensions } }) => ({ output: { dimensions } }),
  reference() {
    // The elements of an output are zeros before a kernel runs.
  },
});
