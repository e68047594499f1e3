/**
 * REVERSE_V2: the elements of a tensor backwards along some axes.
 */
import { ensure, resolveAxis } from "@nnhal/operations";
import { defineOperation, tensor, wide } from "@nnhal/operations/authoring";
import { movedInfo, reverseAxes } from "@nnhal/operations/kernels";
import { movable } from "../_integers.ts";
import { movedTypes } from "../_types.ts";

export const reverseV2 = defineOperation({
  name: "REVERSE_V2",
  code: 1105,
  summary: "The elements of a tensor backwards along some axes.",
  params: [wide(tensor("tensor")), tensor("axis", "TENSOR_INT32")],
  outputs: [wide(tensor("output"))],
  types: movedTypes.map((type) => ["1.2", type, type] as const),
  ranks: { tensor: [1, Number.POSITIVE_INFINITY], axis: 1 },
  infer: ({ tensor: input }) => ({ output: movedInfo(input, input.dimensions) }),
  reference({ tensor: { data, dimensions }, axis }, { output }) {
    const axes = Array.from(axis.data, (each) => resolveAxis(each, dimensions.length));
    const reversed = new Set(axes);
    ensure(reversed.size === axes.length, () => `the axes [${axis.data}] name one axis twice`);
    return reverseAxes(movable(data), dimensions, reversed, movable(output.data));
  },
});
