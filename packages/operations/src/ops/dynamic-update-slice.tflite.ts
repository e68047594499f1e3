/**
 * DYNAMIC_UPDATE_SLICE: a tensor with a box of it replaced.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { clamp } from "../fixed-point.ts";
import { tensor, wide } from "../params.ts";
import { ensureShape, formatShape } from "../shape.ts";
import { copyElements } from "./_copies.ts";
import { indexTypes, listOf, movable } from "./_integers.tflite.ts";
import { movedInfo } from "./_moved.ts";
import { place } from "./_rearrange.ts";
import { realTypes } from "./_types.tflite.ts";

export const dynamicUpdateSlice = defineOperation({
  name: "DYNAMIC_UPDATE_SLICE",
  code: 1151,
  summary: "A tensor with a box of it replaced; a box that would reach beyond the tensor is moved inside.",
  params: [wide(tensor("operand")), wide(tensor("update")), wide(tensor("startIndices"))],
  outputs: [wide(tensor("output"))],
  types: realTypes.flatMap((type) => indexTypes.map((integer) => ["1.2", type, type, integer, type] as const)),
  ranks: { operand: [1, Number.POSITIVE_INFINITY], startIndices: 1 },
  infer({ operand, update, startIndices }) {
    const { dimensions } = operand;
    ensure(
      update.dimensions.length === dimensions.length &&
        update.dimensions.every((extent, axis) => extent <= dimensions[axis]),
      () => `an update of shape ${formatShape(update.dimensions)} is not a part of ${formatShape(dimensions)}`,
    );
    ensureShape("the start indices", startIndices, [dimensions.length]);
    return { output: movedInfo(operand, dimensions) };
  },
  reference({ operand, update, startIndices }, { output }) {
    const { dimensions } = operand;
    const offsets = listOf(startIndices).map((start, axis) =>
      clamp(start, 0, dimensions[axis] - update.dimensions[axis]),
    );
    const target = movable(output.data);
    return [
      copyElements(movable(operand.data), target),
      place(movable(update.data), update.dimensions, target, dimensions, offsets),
    ];
  },
});
