/**
 * RANK: the number of dimensions of a tensor, as a tensor.
 */
import { defineOperation } from "../define.ts";
import { tensor, wide } from "../params.ts";
import { complexTypes, realTypes } from "./_types.tflite.ts";

export const rank = defineOperation({
  name: "RANK",
  code: 1110,
  summary: "The number of dimensions of a tensor.",
  params: [wide(tensor("input"))],
  outputs: [tensor("output", "TENSOR_INT32")],
  types: [...realTypes, ...complexTypes].map((type) => ["1.2", type] as const),
  infer: () => ({ output: { dimensions: [1] } }),
  reference({ input }, { output }) {
    output.data[0] = input.dimensions.length;
  },
});
