/**
 * PAD for the types and ranks of .tflite; the paddings may be 64-bit. Quantised tensors are padded with the zero point, the real number 0.
 */

import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { read, tensor, wide } from "../params.ts";
import { narrowElements } from "./_integers.tflite.ts";
import { movedInfo } from "./_moved.ts";
import { paddingTypes, padWith } from "./_padding.tflite.ts";
import { paddedShape, padsOf } from "./_pads.ts";
import { movedTypes } from "./_types.tflite.ts";

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
