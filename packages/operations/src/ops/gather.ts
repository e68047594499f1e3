/**
 * GATHER: slices of a tensor along one axis, chosen by a tensor of indexes that takes the axis's place in the shape.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { int32, tensor } from "../params.ts";
import { extentProduct, resolveAxis } from "../shape.ts";
import { floatIntegerAndQuant8Types, movedInfo } from "./_moved.ts";
import { copySlices, ensureIndexes } from "./_slices.ts";

export const gather = defineOperation({
  name: "GATHER",
  code: OperationType.GATHER,
  summary: "Takes slices along an axis, chosen by a tensor of indexes.",
  params: [tensor("input"), int32("axis"), tensor("indices", "TENSOR_INT32")],
  outputs: [tensor("output")],
  types: floatIntegerAndQuant8Types,
  infer({ input, axis, indices }) {
    const { dimensions } = input;
    const gatherAxis = resolveAxis(axis, dimensions.length);
    const shape = [...dimensions.slice(0, gatherAxis), ...indices.dimensions, ...dimensions.slice(gatherAxis + 1)];
    return { output: movedInfo(input, shape) };
  },
  reference({ input, axis, indices }, { output }) {
    const { dimensions } = input;
    const gatherAxis = resolveAxis(axis, dimensions.length);
    const extent = dimensions[gatherAxis];
    const outer = extentProduct(dimensions, 0, gatherAxis);
    const inner = extentProduct(dimensions, gatherAxis + 1);
    return [
      ensureIndexes(indices.data, extent),
      copySlices(input.data, outer, extent, inner, indices.data, output.data),
    ];
  },
});
