/**
 * BROADCAST_TO: repeats a tensor to a given shape.
 */
import { ensure, formatShape, sameShape, stridesOf } from "@nnhal/operations";
import { broadcastShape, defineOperation, read, tensor, wide } from "@nnhal/operations/authoring";
import { copySteps, movedInfo } from "@nnhal/operations/kernels";
import { movesComplex } from "../_complex.ts";
import { indexTypes, listOf, movable } from "../_integers.ts";
import { realTypes } from "../_types.ts";

export const broadcastTo = movesComplex(
  defineOperation({
    name: "BROADCAST_TO",
    code: 1130,
    summary: "Repeats a tensor to a given shape.",
    params: [wide(tensor("input")), read(wide(tensor("shape")))],
    outputs: [wide(tensor("output"))],
    types: realTypes.flatMap((type) => indexTypes.map((integer) => ["1.2", type, integer, type] as const)),
    ranks: { shape: 1 },
    infer({ input, shape }) {
      const target = listOf(shape);
      // A scalar of .tflite, which has no extents, is one element in one dimension here.
      const dimensions = target.length === 0 ? [1] : target;
      ensure(
        dimensions.every((extent) => extent >= 0) &&
          sameShape(broadcastShape(input.dimensions, dimensions), dimensions),
        () => `shape ${formatShape(input.dimensions)} does not broadcast to ${formatShape(dimensions)}`,
      );
      return { output: movedInfo(input, dimensions) };
    },
    reference({ input: { data, dimensions } }, { output }) {
      const missing = output.dimensions.length - dimensions.length;
      const own = stridesOf(dimensions);
      const steps = output.dimensions.map((_, axis) =>
        axis < missing || dimensions[axis - missing] === 1 ? 0 : own[axis - missing],
      );
      const to = { start: 0, steps: stridesOf(output.dimensions) };
      return copySteps(output.dimensions, movable(data), { start: 0, steps }, movable(output.data), to);
    },
  }),
);
