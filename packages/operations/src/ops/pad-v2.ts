/**
 * PAD_V2: surrounds a tensor with a given value. Of a quantised tensor the value is a stored integer in the input's scale
 * and zero point, and its low byte counts.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { read, scalar, tensor } from "../params.ts";
import { movedInfo } from "./_moved.ts";
import { pad, paddedShape, padsOf } from "./_pads.ts";

export const padV2 = defineOperation({
  name: "PAD_V2",
  code: OperationType.PAD_V2,
  summary: "Surrounds a tensor with a given value.",
  params: [tensor("input"), read(tensor("paddings", "TENSOR_INT32")), scalar("value")],
  outputs: [tensor("output")],
  types: [
    ["1.2", "TENSOR_FLOAT32", "FLOAT32", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_FLOAT16", "FLOAT16", "TENSOR_FLOAT16"],
    ["1.2", "TENSOR_QUANT8_ASYMM", "INT32", "TENSOR_QUANT8_ASYMM"],
    ["1.3", "TENSOR_QUANT8_ASYMM_SIGNED", "INT32", "TENSOR_QUANT8_ASYMM_SIGNED"],
  ],
  ranks: { input: [1, 4], paddings: 2 },
  infer: ({ input, paddings }) => ({
    output: movedInfo(input, paddedShape(input.dimensions, padsOf(paddings, input.dimensions.length))),
  }),
  reference({ input, paddings, value }, { output }) {
    // Storing an integer in an array of bytes keeps its low byte.
    return pad(input, padsOf(paddings, input.dimensions.length), value, output.data);
  },
});
