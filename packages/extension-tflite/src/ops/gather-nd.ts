/**
 * GATHER_ND: slices of a tensor, each chosen by the indexes of its first axes.
 */
import { extentProduct } from "@nnhal/operations";
import { defineOperation, pacer, tensor, wide } from "@nnhal/operations/authoring";
import { movedInfo } from "@nnhal/operations/kernels";
import { gatherIndexTypes } from "../_gathered.ts";
import { movable, numbersOf } from "../_integers.ts";
import { ensurePrefix, sliceOffsets } from "../_prefix.ts";
import { copyRun, WORK_OF_A_RUN } from "../_runs.ts";
import { movedTypes } from "../_types.ts";

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
  *reference({ params, indices }, { output }) {
    const depth = ensurePrefix(indices.dimensions, params.dimensions);
    const inner = extentProduct(params.dimensions, depth);
    const [source, target] = [movable(params.data), movable(output.data)];
    const isTime = pacer();
    let write = 0;
    for (const from of sliceOffsets(
      numbersOf(indices.data),
      output.data.length / inner,
      params.dimensions.slice(0, depth),
      inner,
    )) {
      const rest = copyRun(source, from, inner, target, write);
      if (rest !== undefined) yield* rest;
      write += inner;
      if (isTime(inner + WORK_OF_A_RUN)) yield;
    }
  },
});
