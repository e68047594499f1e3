/**
 * SCATTER_ND: slices added into a tensor of zeros, each at the indexes of its first axes.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { mayStayZero, read, tensor, wide } from "../params.ts";
import { extentProduct, formatShape, sameShape } from "../shape.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { listOf, movable, numbersOf } from "./_integers.tflite.ts";
import { ensurePrefix, sliceOffset } from "./_prefix.tflite.ts";

export const scatterNd = defineOperation({
  name: "SCATTER_ND",
  code: 1122,
  summary: "Adds slices to a tensor of zeros: each row of the indices has the indexes of a slice along the first axes.",
  params: [tensor("indices", "TENSOR_INT32"), wide(tensor("updates")), read(tensor("shape", "TENSOR_INT32"))],
  outputs: [mayStayZero(wide(tensor("output")))],
  types: [
    ["1.2", "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_INT32", "TENSOR_INT32"],
    ["1.2", tfliteTypes.TENSOR_INT64, tfliteTypes.TENSOR_INT64],
    ["1.2", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM"],
    ["1.2", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT8_ASYMM_SIGNED"],
    ["1.2", "TENSOR_BOOL8", "TENSOR_BOOL8"],
  ],
  ranks: { indices: [1, Number.POSITIVE_INFINITY], updates: [1, Number.POSITIVE_INFINITY], shape: 1 },
  infer({ indices, updates, shape }) {
    const dimensions = listOf(shape);
    dimensions.forEach((extent, axis) => {
      ensure(extent >= 0, () => `the extent of axis ${axis} is ${extent}, less than 0`);
    });
    const depth = ensurePrefix(indices.dimensions, dimensions);
    const needed = [...indices.dimensions.slice(0, -1), ...dimensions.slice(depth)];
    ensure(
      sameShape(updates.dimensions, needed) || (needed.length === 0 && sameShape(updates.dimensions, [1])),
      () => `the updates: expected shape ${formatShape(needed)}, got ${formatShape(updates.dimensions)}`,
    );
    return { output: { dimensions } };
  },
  reference({ indices, updates }, { output }) {
    const { dimensions } = output;
    const depth = ensurePrefix(indices.dimensions, dimensions);
    const inner = extentProduct(dimensions, depth);
    const count = extentProduct(indices.dimensions, 0, indices.dimensions.length - 1);
    const isBool = output.type === "TENSOR_BOOL8";
    const [source, target] = [movable(updates.data), movable(output.data)];
    const [lists, prefix] = [numbersOf(indices.data), dimensions.slice(0, depth)];
    return {
      units: count,
      cost: 4 * (inner + depth),
      inTurn: true,
      compute(first, end) {
        for (let list = first; list < end; list++) {
          const to = sliceOffset(lists, list, prefix, inner);
          for (let place = 0; place < inner; place++) {
            // Sums wrap when they are stored, those of 64 bits too; true and true is true.
            if (isBool) target[to + place] |= source[list * inner + place];
            else target[to + place] += source[list * inner + place];
          }
        }
      },
    };
  },
});
