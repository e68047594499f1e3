/**
 * PAD for the types and ranks of .tflite; the paddings may be 64-bit. Quantised tensors are padded with the zero point, the real number 0.
 */
import { defineOperation, read, tensor, wide } from "@nnhal/operations/authoring";
import { movedInfo, paddedShape, padsOf } from "@nnhal/operations/kernels";
import { OperationType } from "@nnhal/types";
import { narrowElements } from "../_integers.ts";
import { paddingTypes, padWith } from "../_padding.ts";
import { movedTypes } from "../_types.ts";

export const pad = defineOperation({
  name: "PAD",
  code: OperationType.PAD,
  summary: "Surrounds a tensor with zeros.",
  params: [wide(tensor("input")), read(wide(tensor("paddings")))],
  outputs: [wide(tensor("output"))],
  types: movedTypes.flatMap((type) => paddingTypes.map((integer) => ["1.2", type, integer, type] as const)),
  ranks: { input: [1, Number.POSITIVE_INFINITY], paddings: 2 },
  infer: ({ input, paddings }) => ({
    output: movedInfo(input, paddedShape(input.dimensions, padsOf(narrowElements(paddings), input.dimensions.length))),
  }),
  reference: ({ input, paddings }, { output }) => padWith(input, paddings, input.zeroPoint, output),
});
