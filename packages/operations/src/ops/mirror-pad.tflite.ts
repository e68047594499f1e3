/**
 * MIRROR_PAD: surrounds a tensor with its own elements in reverse order.
 */
import { defineOperation } from "../define.ts";
import { int32, read, tensor, wide } from "../params.ts";
import { movesComplex } from "./_complex.tflite.ts";
import { indexTypes, movable, narrowElements } from "./_integers.tflite.ts";
import { inferMirrorPad, mirror, mirrorModeProblem } from "./_mirror.ts";
import { padsOf } from "./_pads.ts";
import { realTypes } from "./_types.tflite.ts";

export const mirrorPad = movesComplex(
  defineOperation({
    name: "MIRROR_PAD",
    code: 1100,
    summary:
      "Surrounds a tensor with its own elements in reverse order; mode 0 leaves out the border itself, mode 1 repeats it.",
    params: [wide(tensor("input")), read(wide(tensor("paddings"))), int32("mode")],
    outputs: [wide(tensor("output"))],
    types: realTypes.flatMap((type) => indexTypes.map((integer) => ["1.2", type, integer, type] as const)),
    ranks: { input: [1, Number.POSITIVE_INFINITY], paddings: 2 },
    check: ({ mode }) => mirrorModeProblem(mode),
    infer: ({ input, paddings, mode }) => ({
      output: inferMirrorPad(input, padsOf(narrowElements(paddings), input.dimensions.length), mode),
    }),
    reference({ input: { data, dimensions }, paddings, mode }, { output }) {
      const pads = padsOf(narrowElements(paddings), dimensions.length);
      return mirror(movable(data), dimensions, pads, mode, movable(output.data));
    },
  }),
);
