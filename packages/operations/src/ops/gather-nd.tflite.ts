/**
 * GATHER_ND: slices of a tensor, each chosen by the indexes of its first axes.
 */

import { defineOperation } from "../define.ts";
import { tensor, wide } from "../params.ts";
import { extentProduct } from "../shape.ts";
import { gatherIndexTypes } from "./_gathered.tflite.ts";
import { movable, numbersOf } from "./_integers.tflite.ts";
import { movedInfo } from "./_moved.ts";
import { ensurePrefix, sliceOffset } from "./_prefix.tflite.ts";
import { copyWholeRun, costOfRun } from "./_runs.ts";
import { movedTypes } from "./_types.tflite.ts";

export const gatherNd = defineOperation({
  name: "GATHER_ND",
  code: 1107,
  summary: "Takes slices of a tensor: each row of the indices has the indexes of a slice along the first axes.",
  params: [wide(tensor("params")), wide(tensor("indices"))],
  outputs: [wide(tensor("output"))],
  types: movedTypes.flatMap((type) => gatherIndexTypes.map((index) => ["1.2", type, index, type] as const)),
  ranks: { params: [1, Number.POSITIVE_INFINITY], indices: [1, Number.POSITIVE_INFINITY] },
  infer({ params, indices }) {
    const depth = ensurePrefix(indices.dimensions, params.dimensions);
    const shape = [...indices.dimensions.slice(0, -1), ...params.dimensions.slice(depth)];
    return { output: movedInfo(params, shape.length === 0 ? [1] : shape) };
  },
  reference({ params, indices }, { output }) {
    const depth = ensurePrefix(indices.dimensions, params.dimensions);
    const inner = extentProduct(params.dimensions, depth);
    const [source, target] = [movable(params.data), movable(output.data)];
    const [lists, prefix] = [numbersOf(indices.data), params.dimensions.slice(0, depth)];
    return {
      units: inner === 0 ? 0 : target.length / inner,
      cost: costOfRun(inner),
      compute(first, end) {
        for (let list = first; list < end; list++) {
          copyWholeRun(source, sliceOffset(lists, list, prefix, inner), inner, target, list * inner);
        }
      },
    };
  },
});
