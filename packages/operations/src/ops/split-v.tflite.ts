/**
 * SPLIT_V: cuts a tensor into parts of given extents along one axis.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, read, tensor, variadic, wide } from "../params.ts";
import { resolveAxis } from "../shape.ts";
import { indexTypes, listOf, oneNumber } from "./_integers.tflite.ts";
import { movedInfo } from "./_moved.ts";
import { copyParts } from "./_parts.tflite.ts";
import { splitTypes } from "./_types.tflite.ts";

export const splitV = defineOperation({
  name: "SPLIT_V",
  code: 1102,
  summary: "Cuts a tensor into parts of given extents along one axis; one extent of -1 is the rest.",
  params: [
    wide(tensor("input")),
    read(wide(tensor("sizeSplits"))),
    read(tensor("axis", "TENSOR_INT32")),
    int32("numSplits"),
  ],
  outputs: [variadic(wide(tensor("outputs")))],
  types: splitTypes.flatMap((type) => indexTypes.map((size) => ["1.2", type, size, type] as const)),
  ranks: { input: [1, Number.POSITIVE_INFINITY], sizeSplits: 1 },
  infer({ input, sizeSplits, axis, numSplits }, { outputs }) {
    const { dimensions } = input;
    const place = resolveAxis(oneNumber("axis", axis), dimensions.length);
    const sizes = partSizes(listOf(sizeSplits), dimensions[place]);
    ensure(
      numSplits === outputs.length && sizes.length === outputs.length,
      () => `numSplits is ${numSplits} and there are ${sizes.length} extents, but ${outputs.length} outputs`,
    );
    return { outputs: sizes.map((size) => movedInfo(input, dimensions.with(place, size))) };
  },
  reference({ input, axis }, { outputs }) {
    return copyParts(input, resolveAxis(oneNumber("axis", axis), input.dimensions.length), outputs);
  },
});

/** The extents of the parts, the open one computed. */
function partSizes(sizes: readonly number[], extent: number): readonly number[] {
  const open = sizes.indexOf(-1);
  const known = sizes.reduce((sum, size, index) => (index === open ? sum : sum + size), 0);
  ensure(
    sizes.every((size, index) => size >= 0 || index === open) && (open < 0 ? known === extent : known <= extent),
    () => `parts of extents [${sizes.join(", ")}] are not an axis of ${extent}`,
  );
  return open < 0 ? sizes : sizes.with(open, extent - known);
}
