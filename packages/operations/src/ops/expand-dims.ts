/**
 * EXPAND_DIMS: inserts a dimension of extent 1.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { int32, tensor } from "../params.ts";
import { resolveAxis } from "../shape.ts";
import { copyElements } from "./_copies.ts";
import { floatIntegerAndQuant8Types, movedInfo } from "./_moved.ts";

export const expandDims = defineOperation({
  name: "EXPAND_DIMS",
  code: OperationType.EXPAND_DIMS,
  summary: "Inserts a dimension of extent 1 before an axis; negative axes count from the end of the output.",
  params: [tensor("input"), int32("axis")],
  outputs: [tensor("output")],
  types: floatIntegerAndQuant8Types,
  infer({ input, axis }) {
    const { dimensions } = input;
    const place = resolveAxis(axis, dimensions.length + 1);
    return { output: movedInfo(input, [...dimensions.slice(0, place), 1, ...dimensions.slice(place)]) };
  },
  reference: ({ input }, { output }) => copyElements(input.data, output.data),
});
