/**
 * MIRROR_PAD: surrounds a tensor with its own elements in reverse order.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { int32, read, tensor } from "../params.ts";
import { inferMirrorPad, mirror, mirrorModeProblem } from "./_mirror.ts";
import { movedTypesSince } from "./_moved.ts";
import { padsOf } from "./_pads.ts";

export const mirrorPad = defineOperation({
  name: "MIRROR_PAD",
  code: OperationType.MIRROR_PAD,
  summary:
    "Surrounds a tensor with its own elements in reverse order; mode 0 leaves out the border itself, mode 1 repeats it.",
  params: [tensor("input"), read(tensor("paddings", "TENSOR_INT32")), int32("mode")],
  outputs: [tensor("output")],
  types: movedTypesSince("aidl3"),
  ranks: { input: [1, Number.POSITIVE_INFINITY], paddings: 2 },
  check: ({ mode }) => mirrorModeProblem(mode),
  infer: ({ input, paddings, mode }) => ({
    output: inferMirrorPad(input, padsOf(paddings, input.dimensions.length), mode),
  }),
  reference: ({ input: { data, dimensions }, paddings, mode }, { output }) =>
    mirror(data, dimensions, padsOf(paddings, dimensions.length), mode, output.data),
});
