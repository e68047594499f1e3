/**
 * RESHAPE: the same elements in the same order under another shape.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { read, tensor } from "../params.ts";
import { formatShape } from "../shape.ts";
import { elementCount, type Tensor } from "../tensor.ts";
import { copyElements } from "./_copies.ts";
import { floatAndQuant8Types, movedInfo } from "./_moved.ts";

export const reshape = defineOperation({
  name: "RESHAPE",
  code: OperationType.RESHAPE,
  summary: "Changes a tensor's shape to another with as many elements; one extent of -1 is computed.",
  params: [tensor("input"), read(tensor("shape", "TENSOR_INT32"))],
  outputs: [tensor("output")],
  types: [...floatAndQuant8Types("1.0"), ["aidl2", "TENSOR_INT32", "TENSOR_INT32"]],
  ranks: { input: [1, 4], shape: 1 },
  infer: ({ input, shape }) => ({ output: movedInfo(input, resolveShape(input.dimensions, shape)) }),
  reference: ({ input }, { output }) => copyElements(input.data, output.data),
});

function resolveShape(dimensions: readonly number[], shape: Tensor): readonly number[] {
  const target = Array.from(shape.data);
  ensure(target.length > 0, () => "the shape: expected at least 1 element, got 0");
  const count = elementCount(dimensions);
  const open = target.indexOf(-1);
  let known = 1;
  target.forEach((extent, axis) => {
    ensure(
      extent >= 0 || axis === open,
      () => `axis ${axis} of shape ${formatShape(target)}: expected an extent, or one -1, got ${extent}`,
    );
    if (axis !== open) known *= extent;
  });
  // If the known extents have no elements, either any value of the open one fits or none.
  if (open >= 0 && known > 0) target[open] = Math.floor(count / known);
  ensure(
    !target.includes(-1) && elementCount(target) === count,
    () => `shape ${formatShape(target)} does not hold the ${count} elements of shape ${formatShape(dimensions)}`,
  );
  return target;
}
