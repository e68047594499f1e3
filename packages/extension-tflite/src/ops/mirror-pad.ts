/**
 * MIRROR_PAD: surrounds a tensor with its own elements in reverse order.
 */
import { defineOperation, int32, read, tensor, wide } from "@nnhal/operations/authoring";
import { inferMirrorPad, mirror, mirrorModeProblem, padsOf } from "@nnhal/operations/kernels";
import { movesComplex } from "../_complex.ts";
import { indexTypes, movable, narrowElements } from "../_integers.ts";
import { realTypes } from "../_types.ts";

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
