/**
 * SLICE: a box out of a tensor, by its first corner and its extents. HAL: an extent of -1 reaches to the end.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { read, tensor } from "../params.ts";
import { stridesOf } from "../shape.ts";
import type { Tensor } from "../tensor.ts";
import { floatIntegerAndQuant8Types, movedInfo } from "./_moved.ts";
import { copySteps, offsetOf } from "./_rearrange.ts";

export const slice = defineOperation({
  name: "SLICE",
  code: OperationType.SLICE,
  summary: "Takes a box out of a tensor, by its first corner and its extents.",
  params: [tensor("input"), read(tensor("begin", "TENSOR_INT32")), read(tensor("size", "TENSOR_INT32"))],
  outputs: [tensor("output")],
  types: floatIntegerAndQuant8Types,
  ranks: { begin: 1, size: 1 },
  infer: ({ input, begin, size }) => ({ output: movedInfo(input, sliceShape(input.dimensions, begin, size)) }),
  reference({ input, begin }, { output }) {
    const steps = stridesOf(input.dimensions);
    const from = { start: offsetOf(Array.from(begin.data), steps), steps };
    const to = { start: 0, steps: stridesOf(output.dimensions) };
    return copySteps(output.dimensions, input.data, from, output.data, to);
  },
});

function sliceShape(dimensions: readonly number[], begin: Tensor, size: Tensor): readonly number[] {
  const rank = dimensions.length;
  ensure(
    begin.data.length === rank && size.data.length === rank,
    () => `begin and size: expected ${rank} elements (the rank), got ${begin.data.length} and ${size.data.length}`,
  );
  return dimensions.map((extent, axis) => {
    const first = begin.data[axis];
    ensure(first >= 0 && first <= extent, () => `begin ${first} of axis ${axis} is outside [0, ${extent}]`);
    const length = size.data[axis] === -1 ? extent - first : size.data[axis];
    ensure(
      length >= 0 && first + length <= extent,
      () => `${length} elements from ${first} of axis ${axis} are not within its extent of ${extent}`,
    );
    return length;
  });
}
