/**
 * MIRROR_PAD: surrounds a tensor with its own elements in reverse order.
 */
import { ensure } from "@nnhal/operations";
import { defineOperation, int32, read, tensor, wide } from "@nnhal/operations/authoring";
import { movedInfo, type Pad, paddedShape, padsOf } from "@nnhal/operations/kernels";
import { movesComplex } from "../_complex.ts";
import { indexTypes, narrowElements } from "../_integers.ts";
import { copyPicked } from "../_picked.ts";
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
    check: ({ mode }) =>
      mode === undefined || mode === 0 || mode === 1
        ? undefined
        : `the mode: expected 0 (REFLECT) or 1 (SYMMETRIC), got ${mode}`,
    infer({ input, paddings, mode }) {
      const { dimensions } = input;
      const pads = padsOf(narrowElements(paddings), dimensions.length);
      const border = mode === 0 ? 1 : 0;
      pads.forEach(([before, after], axis) => {
        const most = dimensions[axis] - border;
        ensure(
          (before <= most && after <= most) || before + after === 0,
          () =>
            `padding ${before} and ${after} of axis ${axis} is more than the ${Math.max(most, 0)} elements to repeat`,
        );
      });
      return { output: movedInfo(input, paddedShape(dimensions, pads)) };
    },
    reference({ input: { data, dimensions }, paddings, mode }, { output }) {
      const pads = padsOf(narrowElements(paddings), dimensions.length);
      const places = pads.map((pad, axis) => mirrorPlaces(dimensions[axis], pad, mode === 0 ? 1 : 0));
      return copyPicked(data, dimensions, places, output.data);
    },
  }),
);

/** The places of an axis with its reflection at both ends; `border`: the elements at the ends that are not repeated. */
function mirrorPlaces(extent: number, [before, after]: Pad, border: number): Int32Array {
  return Int32Array.from({ length: before + extent + after }, (_, index) => {
    const place = index - before;
    if (place < 0) return -place - 1 + border;
    return place < extent ? place : 2 * extent - 1 - border - place;
  });
}
