/**
 * BROADCAST_ARGS: the shape that two shapes broadcast to.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { tensor, wide } from "../params.ts";
import { broadcastShape } from "../shape.ts";
import { indexTypes, listOf } from "./_integers.tflite.ts";
import { storeIntegers } from "./_store.tflite.ts";

export const broadcastArgs = defineOperation({
  name: "BROADCAST_ARGS",
  code: 1145,
  summary: "The shape that two shapes broadcast to; shapes are lists of extents.",
  params: [wide(tensor("shape1")), wide(tensor("shape2"))],
  outputs: [wide(tensor("output"))],
  types: indexTypes.map((type) => ["1.2", type, type, type] as const),
  ranks: { shape1: 1, shape2: 1 },
  infer: ({ shape1, shape2 }) => ({
    output: { dimensions: [Math.max(shape1.dimensions[0], shape2.dimensions[0])] },
  }),
  reference({ shape1, shape2 }, { output }) {
    const shape = broadcastShape(listOf(shape1), listOf(shape2));
    ensure(
      shape.every((extent) => extent >= 0),
      () => `the shape [${shape.join(", ")}] has an extent of less than 0`,
    );
    storeIntegers(shape, output.data);
  },
});
