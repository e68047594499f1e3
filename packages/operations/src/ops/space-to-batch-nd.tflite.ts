/**
 * SPACE_TO_BATCH_ND for all types, and with any number of spatial axes.
 */

import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { read, tensor, wide } from "../params.ts";
import { createData, elementCount } from "../tensor.ts";
import { blockOf, interleave, spatialPairs, wholePart } from "./_blocks.tflite.ts";
import { movesComplex } from "./_complex.tflite.ts";
import { movable } from "./_integers.tflite.ts";
import { movedInfo } from "./_moved.ts";
import { pad, paddedShape } from "./_pads.ts";
import { permute } from "./_rearrange.ts";
import { realTypes } from "./_types.tflite.ts";

export const spaceToBatchNd = movesComplex(
  defineOperation({
    name: "SPACE_TO_BATCH_ND",
    code: OperationType.SPACE_TO_BATCH_ND,
    summary: "Pads the spatial axes, then takes each place within blocks of them as a batch of its own.",
    params: [wide(tensor("input")), read(tensor("block", "TENSOR_INT32")), read(tensor("paddings", "TENSOR_INT32"))],
    outputs: [wide(tensor("output"))],
    types: realTypes.map((type) => ["1.2", type, type] as const),
    ranks: { input: [3, 4], block: 1, paddings: 2 },
    infer({ input, block, paddings }) {
      const [batches, ...rest] = paddedShape(input.dimensions, spatialPairs("the paddings", paddings, input));
      const sizes = blockOf(block, input);
      const dimensions = [
        batches * elementCount(sizes),
        ...rest.map((extent, axis) => wholePart(`the padded extent of axis ${axis + 1}`, extent, sizes[axis] ?? 1)),
      ];
      return { output: movedInfo(input, dimensions) };
    },
    reference({ input, block, paddings }, { output }) {
      const pads = spatialPairs("the paddings", paddings, input);
      const sizes = blockOf(block, input);
      const padded = createData(input.type, output.data.length);
      const value = input.zeroPoint === 0 ? undefined : input.zeroPoint;
      const padding = pad({ ...input, data: movable(input.data) }, pads, value, padded);
      const [, ...rest] = output.dimensions;
      const spatial = rest.slice(0, -1);
      // Each spatial axis as two, the blocks and the places within one.
      const extents = [input.dimensions[0], ...interleave(spatial, sizes), rest[rest.length - 1]];
      const count = sizes.length;
      const order = [
        ...sizes.map((_, axis) => 2 * axis + 2),
        0,
        ...sizes.map((_, axis) => 2 * axis + 1),
        2 * count + 1,
      ];
      return [...padding, permute(padded, extents, order, movable(output.data))];
    },
  }),
);
