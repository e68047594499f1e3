/**
 * BROADCAST_TO: repeats a tensor to a given shape.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { read, tensor, wide } from "../params.ts";
import { broadcastShape, formatShape, sameShape, stridesOf } from "../shape.ts";
import { movesComplex } from "./_complex.tflite.ts";
import { indexTypes, listOf, movable } from "./_integers.tflite.ts";
import { movedInfo } from "./_moved.ts";
import { copySteps } from "./_rearrange.ts";
import { realTypes } from "./_types.tflite.ts";

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
