/**
 * GATHER for the types of .tflite, with axes that are batches of both operands. The indexes may be 64-bit or 16-bit.
 */

import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, optional, tensor, wide } from "../params.ts";
import { extentProduct, formatShape, resolveAxis, sameShape } from "../shape.ts";
import { gatherIndexTypes, outside, withoutScalar } from "./_gathered.tflite.ts";
import { movable, numbersOf } from "./_integers.tflite.ts";
import { movedInfo } from "./_moved.ts";
import { copyWholeRun, costOfRun } from "./_runs.ts";
import { movedTypes } from "./_types.tflite.ts";

export const gather = defineOperation({
  name: "GATHER",
  code: OperationType.GATHER,
  summary:
    "Takes slices along an axis, chosen by a tensor of indexes; the first batchDims axes of both are walked together.",
  params: [wide(tensor("input")), int32("axis"), wide(tensor("indices")), optional("1.2", int32("batchDims"), 0)],
  outputs: [wide(tensor("output"))],
  types: movedTypes.flatMap((type) => gatherIndexTypes.map((index) => ["1.2", type, index, type] as const)),
  ranks: { input: [1, Number.POSITIVE_INFINITY] },
  infer({ input, axis, indices, batchDims }, { output }) {
    const { dimensions } = input;
    const gatherAxis = resolveAxis(axis, dimensions.length);
    const batches = batchAxes(batchDims, indices.dimensions.length, gatherAxis);
    ensure(
      sameShape(dimensions.slice(0, batches), indices.dimensions.slice(0, batches)),
      () =>
        `the first ${batches} axes of the input ${formatShape(dimensions)} and of the indices ${formatShape(indices.dimensions)} differ`,
    );
    const [before, after] = [dimensions.slice(0, gatherAxis), dimensions.slice(gatherAxis + 1)];
    const shape = [...before, ...indices.dimensions.slice(batches), ...after];
    return { output: movedInfo(input, withoutScalar(shape, indices, [...before, ...after], output)) };
  },
  reference({ input, axis, indices, batchDims }, { output }) {
    const { dimensions } = input;
    const gatherAxis = resolveAxis(axis, dimensions.length);
    const batches = batchAxes(batchDims, indices.dimensions.length, gatherAxis);
    const extent = dimensions[gatherAxis];
    const inner = extentProduct(dimensions, gatherAxis + 1);
    const outer = extentProduct(dimensions, batches, gatherAxis);
    const perBatch = extentProduct(indices.dimensions, batches);
    const [places, source, target] = [numbersOf(indices.data), movable(input.data), movable(output.data)];
    return {
      units: extentProduct(dimensions, 0, gatherAxis) * perBatch,
      cost: costOfRun(inner),
      compute(first, end) {
        for (let run = first; run < end; run++) {
          const block = Math.floor(run / perBatch);
          const position = Math.floor(block / outer) * perBatch + (run % perBatch);
          const index = places[position];
          if (!(index >= 0 && index < extent)) throw outside(index, position, extent);
          copyWholeRun(source, (block * extent + index) * inner, inner, target, run * inner);
        }
      },
    };
  },
});

/** The number of axes that are batches; a negative one counts from the end of the indices' axes. */
function batchAxes(batchDims: number, rank: number, axis: number): number {
  const batches = batchDims < 0 ? batchDims + rank : batchDims;
  ensure(
    batches >= 0 && batches <= Math.min(rank, axis),
    () => `batchDims: expected at most the axis, ${axis}, and the rank of the indices, ${rank}, got ${batchDims}`,
  );
  return batches;
}
