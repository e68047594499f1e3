/**
 * REVERSE_V2: the elements of a tensor backwards along some axes.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { tensor, wide } from "../params.ts";
import { resolveAxis } from "../shape.ts";
import { movable } from "./_integers.tflite.ts";
import { movedInfo } from "./_moved.ts";
import { reverseAxes } from "./_rearrange.ts";
import { movedTypes } from "./_types.tflite.ts";

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
