/**
 * TILE: repeats a tensor along each axis.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { read, tensor } from "../params.ts";
import { stridesOf } from "../shape.ts";
import { floatIntegerAndQuant8Types, movedInfo } from "./_moved.ts";
import { copySteps } from "./_rearrange.ts";

export const tile = defineOperation({
  name: "TILE",
  code: OperationType.TILE,
  summary: "Repeats a tensor along each axis.",
  params: [tensor("input"), read(tensor("multiples", "TENSOR_INT32"))],
  outputs: [tensor("output")],
  types: floatIntegerAndQuant8Types,
  ranks: { multiples: 1 },
  infer({ input, multiples }) {
    const rank = input.dimensions.length;
    const { length } = multiples.data;
    ensure(length === rank, () => `expected ${rank} multiples (the rank), got ${length}`);
    const dimensions = input.dimensions.map((extent, axis) => {
      const multiple = multiples.data[axis];
      ensure(multiple >= 0, () => `the multiple of axis ${axis} is ${multiple}, less than 0`);
      return extent * multiple;
    });
    return { output: movedInfo(input, dimensions) };
  },
  reference({ input, multiples }, { output }) {
    // Each axis as two, the repeats and the elements; a repeat takes no step in the input.
    const extents = input.dimensions.flatMap((extent, axis) => [multiples.data[axis], extent]);
    const from = { start: 0, steps: stridesOf(input.dimensions).flatMap((step) => [0, step]) };
    return copySteps(extents, input.data, from, output.data, { start: 0, steps: stridesOf(extents) });
  },
});
