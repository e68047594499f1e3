/**
 * TRANSPOSE: puts the axes of a tensor in another order. HAL: without a permutation the order is reversed.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { omittable, read, tensor } from "../params.ts";
import type { Tensor } from "../tensor.ts";
import { floatAndQuant8Types, movedInfo } from "./_moved.ts";
import { permute } from "./_rearrange.ts";

export const transpose = defineOperation({
  name: "TRANSPOSE",
  code: OperationType.TRANSPOSE,
  summary: "Puts the axes in another order: those listed, or the reverse order.",
  params: [tensor("input"), omittable(read(tensor("permutation", "TENSOR_INT32")))],
  outputs: [tensor("output")],
  types: floatAndQuant8Types("1.1"),
  ranks: { input: [1, 4], permutation: 1 },
  infer({ input, permutation }) {
    const { dimensions } = input;
    return {
      output: movedInfo(
        input,
        axisOrder(permutation, dimensions.length).map((axis) => dimensions[axis]),
      ),
    };
  },
  reference({ input, permutation }, { output }) {
    return permute(input.data, input.dimensions, axisOrder(permutation, input.dimensions.length), output.data);
  },
});

function axisOrder(permutation: Tensor | undefined, rank: number): readonly number[] {
  const axes = Array.from({ length: rank }, (_, axis) => axis);
  if (permutation === undefined) return axes.reverse();
  const order = Array.from(permutation.data);
  ensure(
    order.length === rank && axes.every((axis) => order.includes(axis)),
    () => `[${order}] is not a permutation of the axes 0 to ${rank - 1}`,
  );
  return order;
}
