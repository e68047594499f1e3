/**
 * PAD_V2 for the types and ranks of .tflite; the paddings may be 64-bit, and the value may be computed. The value of a quantised tensor is a
 * stored integer in the input's scale and zero point.
 */

import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { read, tensor, wide } from "../params.ts";
import { movable, narrowElements } from "./_integers.tflite.ts";
import { movedInfo } from "./_moved.ts";
import { paddingTypes, padWith } from "./_padding.tflite.ts";
import { paddedShape, padsOf } from "./_pads.ts";
import { movedTypes } from "./_types.tflite.ts";

export const padV2 = defineOperation({
  name: "PAD_V2",
  code: OperationType.PAD_V2,
  summary: "Surrounds a tensor with a given value.",
  params: [wide(tensor("input")), read(wide(tensor("paddings"))), wide(tensor("value"))],
  outputs: [wide(tensor("output"))],
  types: paddingTypes.flatMap((integer) => [
    ...movedTypes.map((type) => ["1.2", type, integer, type, type] as const),
    ["1.2", "TENSOR_FLOAT32", integer, "FLOAT32", "TENSOR_FLOAT32"] as const,
    ["1.2", "TENSOR_FLOAT16", integer, "FLOAT16", "TENSOR_FLOAT16"] as const,
    ["1.2", "TENSOR_INT32", integer, "INT32", "TENSOR_INT32"] as const,
    ["1.2", "TENSOR_QUANT8_ASYMM", integer, "INT32", "TENSOR_QUANT8_ASYMM"] as const,
    ["1.2", "TENSOR_QUANT8_ASYMM_SIGNED", integer, "INT32", "TENSOR_QUANT8_ASYMM_SIGNED"] as const,
    ["1.2", "TENSOR_QUANT16_SYMM", integer, "INT32", "TENSOR_QUANT16_SYMM"] as const,
  ]),
  ranks: { input: [1, Number.POSITIVE_INFINITY], paddings: 2 },
  infer: ({ input, paddings }) => ({
    output: movedInfo(input, paddedShape(input.dimensions, padsOf(narrowElements(paddings), input.dimensions.length))),
  }),
  reference({ input, paddings, value }, { output }) {
    const { length } = value.data;
    ensure(length === 1, () => `the value: expected 1 element, got ${length}`);
    return padWith(input, paddings, movable(value.data)[0], output);
  },
});
