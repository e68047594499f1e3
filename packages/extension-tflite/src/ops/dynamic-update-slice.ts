/**
 * DYNAMIC_UPDATE_SLICE: a tensor with a box of it replaced.
 */
import { clamp, ensure, formatShape } from "@nnhal/operations";
import { defineOperation, ensureShape, tensor, wide } from "@nnhal/operations/authoring";
import { copyElements, movedInfo, place } from "@nnhal/operations/kernels";
import { indexTypes, listOf, movable } from "../_integers.ts";
import { realTypes } from "../_types.ts";

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
