/**
 * SHAPE: the extents of a tensor.
 */
import { defineOperation } from "../define.ts";
import { int32, tensor, wide } from "../params.ts";
import { indexTypes } from "./_integers.tflite.ts";
import { storeIntegers } from "./_store.tflite.ts";
import { complexTypes, realTypes } from "./_types.tflite.ts";

export const shape = defineOperation({
  name: "SHAPE",
  code: 1077,
  summary: "The extents of a tensor; the type of the result is that of its operand, as outType says.",
  params: [wide(tensor("input")), int32("outType")],
  outputs: [wide(tensor("output"))],
  types: [...realTypes, ...complexTypes].flatMap((type) => indexTypes.map((result) => ["1.2", type, result] as const)),
  infer: ({ input }) => ({ output: { dimensions: [input.dimensions.length] } }),
  reference({ input }, { output }) {
    storeIntegers(input.dimensions, output.data);
  },
});
