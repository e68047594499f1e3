/**
 * PAD: surrounds a tensor with zeros. Quantised tensors are padded with the zero point, the real number 0.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { read, tensor } from "../params.ts";
import { floatAndQuant8Types, movedInfo } from "./_moved.ts";
import { logicalZeroSince, paddedShape, padsOf, pad as padWith } from "./_pads.ts";

export const pad = defineOperation({
  name: "PAD",
  code: OperationType.PAD,
  summary: "Surrounds a tensor with zeros.",
  params: [tensor("input"), read(tensor("paddings", "TENSOR_INT32"))],
  outputs: [tensor("output")],
  types: floatAndQuant8Types("1.1"),
  ranks: { input: [1, 4], paddings: 2 },
  since: ({ input }) => logicalZeroSince(input),
  infer: ({ input, paddings }) => ({
    output: movedInfo(input, paddedShape(input.dimensions, padsOf(paddings, input.dimensions.length))),
  }),
  reference({ input, paddings }, { output }) {
    return padWith(input, padsOf(paddings, input.dimensions.length), input.zeroPoint, output.data);
  },
});
