/**
 * BATCH_TO_SPACE_ND for all types, with any number of spatial axes, and with crops.
 */

import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { omittableFrom, read, tensor, wide } from "../params.ts";
import { stridesOf } from "../shape.ts";
import { createData, elementCount } from "../tensor.ts";
import { blockOf, interleave, noPairs, spatialPairs, wholePart } from "./_blocks.tflite.ts";
import { movesComplex } from "./_complex.tflite.ts";
import { movable } from "./_integers.tflite.ts";
import { movedInfo } from "./_moved.ts";
import { copySteps, offsetOf, permute } from "./_rearrange.ts";
import { realTypes } from "./_types.tflite.ts";

export const batchToSpaceNd = movesComplex(
  defineOperation({
    name: "BATCH_TO_SPACE_ND",
    code: OperationType.BATCH_TO_SPACE_ND,
    summary: "Spreads groups of batches over blocks of the spatial axes, then crops them.",
    params: [
      wide(tensor("input")),
      read(tensor("block", "TENSOR_INT32")),
      omittableFrom("1.2", read(tensor("crops", "TENSOR_INT32"))),
    ],
    outputs: [wide(tensor("output"))],
    types: realTypes.map((type) => ["1.2", type, type] as const),
    ranks: { input: [3, 4], block: 1, crops: 2 },
    infer({ input, block, crops }) {
      const sizes = blockOf(block, input);
      const whole = wholeShape(input.dimensions, sizes);
      const pairs = crops === undefined ? noPairs(input) : spatialPairs("the crops", crops, input);
      const dimensions = whole.map((extent, axis) => {
        const [before, after] = pairs[axis];
        ensure(
          before + after <= extent,
          () => `crops ${before} and ${after} of axis ${axis} are more than its extent of ${extent}`,
        );
        return extent - before - after;
      });
      return { output: movedInfo(input, dimensions) };
    },
    reference({ input, block, crops }, { output }) {
      const { dimensions } = input;
      const sizes = blockOf(block, input);
      const whole = wholeShape(dimensions, sizes);
      const count = sizes.length;
      const isCropped = elementCount(whole) !== output.data.length;
      const target = isCropped ? createData(input.type, elementCount(whole)) : movable(output.data);
      const extents = [...sizes, whole[0], ...dimensions.slice(1)];
      const order = [
        count,
        ...interleave(
          sizes.map((_, axis) => count + 1 + axis),
          sizes.map((_, axis) => axis),
        ),
        2 * count + 1,
      ];
      const spread = permute(movable(input.data), extents, order, target);
      if (!isCropped || crops === undefined) return spread;
      const steps = stridesOf(whole);
      const start = offsetOf(
        spatialPairs("the crops", crops, input).map(([before]) => before),
        steps,
      );
      const to = { start: 0, steps: stridesOf(output.dimensions) };
      return [spread, copySteps(output.dimensions, target, { start, steps }, movable(output.data), to)];
    },
  }),
);

/** The shape before crops. */
function wholeShape([batches, ...rest]: readonly number[], sizes: readonly number[]): readonly number[] {
  const groups = wholePart("the number of batches", batches, elementCount(sizes));
  return [groups, ...rest.map((extent, axis) => extent * (sizes[axis] ?? 1))];
}
