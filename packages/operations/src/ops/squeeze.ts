/**
 * SQUEEZE: removes dimensions of extent 1, all of them or those listed.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { omittable, read, tensor } from "../params.ts";
import { resolveAxis } from "../shape.ts";
import type { Tensor } from "../tensor.ts";
import { copyElements } from "./_copies.ts";
import { floatAndQuant8Types, movedInfo } from "./_moved.ts";

export const squeeze = defineOperation({
  name: "SQUEEZE",
  code: OperationType.SQUEEZE,
  summary: "Removes dimensions of extent 1: those listed, or all of them.",
  params: [tensor("input"), omittable(read(tensor("axes", "TENSOR_INT32")))],
  outputs: [tensor("output")],
  types: floatAndQuant8Types("1.1"),
  ranks: { input: [1, 4], axes: 1 },
  infer: ({ input, axes }) => ({ output: movedInfo(input, squeezeShape(input.dimensions, axes)) }),
  reference: ({ input }, { output }) => copyElements(input.data, output.data),
});

/** The remaining extents of a shape; [1] if none remains. */
function squeezeShape(dimensions: readonly number[], axes: Tensor | undefined): readonly number[] {
  let rest: readonly number[];
  if (axes === undefined) rest = dimensions.filter((extent) => extent !== 1);
  else {
    const listed = new Set(Array.from(axes.data, (axis) => resolveAxis(axis, dimensions.length)));
    for (const axis of listed) {
      ensure(dimensions[axis] === 1, () => `axis ${axis}: expected extent 1, got ${dimensions[axis]}`);
    }
    rest = dimensions.filter((_, axis) => !listed.has(axis));
  }
  return rest.length === 0 ? [1] : rest;
}
