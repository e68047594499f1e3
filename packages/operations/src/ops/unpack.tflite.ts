/**
 * UNPACK: the slices of a tensor along an axis, without the axis.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, tensor, variadic, wide } from "../params.ts";
import { resolveAxis } from "../shape.ts";
import { movedInfo } from "./_moved.ts";
import { copyParts } from "./_parts.tflite.ts";
import { unpackTypes } from "./_types.tflite.ts";

export const unpack = defineOperation({
  name: "UNPACK",
  code: 1088,
  summary: "The slices of a tensor along an axis, without the axis.",
  params: [wide(tensor("input")), int32("num"), int32("axis")],
  outputs: [variadic(wide(tensor("outputs")))],
  types: unpackTypes.map((type) => ["1.2", type, type] as const),
  ranks: { input: [1, Number.POSITIVE_INFINITY] },
  infer({ input, num, axis }, { outputs }) {
    const { dimensions } = input;
    const place = resolveAxis(axis, dimensions.length);
    ensure(num === outputs.length, () => `num is ${num}, but there are ${outputs.length} outputs`);
    ensure(num === dimensions[place], () => `axis ${place}: expected extent ${num} (num), got ${dimensions[place]}`);
    const rest = dimensions.toSpliced(place, 1);
    return { outputs: outputs.map(() => movedInfo(input, rest.length === 0 ? [1] : rest)) };
  },
  reference({ input, axis }, { outputs }) {
    return copyParts(input, resolveAxis(axis, input.dimensions.length), outputs);
  },
});
