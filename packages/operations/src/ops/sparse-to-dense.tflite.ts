/**
 * SPARSE_TO_DENSE: a tensor of one value with others at given places.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { bool, read, tensor, wide } from "../params.ts";
import { extentProduct } from "../shape.ts";
import { fillElements } from "./_copies.ts";
import { indexTypes, listOf, movable, numbersOf } from "./_integers.tflite.ts";
import { sliceOffset } from "./_prefix.tflite.ts";
import { depthTypes } from "./_types.tflite.ts";

export const sparseToDense = defineOperation({
  name: "SPARSE_TO_DENSE",
  code: 1068,
  summary:
    "A tensor of one value with others at given places; one value is for all places. Places are checked whatever validateIndices is.",
  params: [
    wide(tensor("sparseIndices")),
    read(wide(tensor("outputShape"))),
    wide(tensor("sparseValues")),
    wide(tensor("defaultValue")),
    bool("validateIndices"),
  ],
  outputs: [wide(tensor("output"))],
  types: depthTypes.flatMap((type) =>
    indexTypes.flatMap((index) => indexTypes.map((extent) => ["1.2", index, extent, type, type, type] as const)),
  ),
  ranks: { sparseIndices: [0, 2], outputShape: 1, sparseValues: [0, 1] },
  infer({ sparseIndices, outputShape, sparseValues }) {
    const dimensions = listOf(outputShape);
    dimensions.forEach((extent, axis) => {
      ensure(extent >= 0, () => `the extent of axis ${axis} is ${extent}, less than 0`);
    });
    const [count, depth] = listsOf(sparseIndices.dimensions);
    ensure(
      depth === dimensions.length,
      () => `a place: expected ${dimensions.length} indexes (one for each axis), got ${depth}`,
    );
    const values = extentProduct(sparseValues.dimensions, 0);
    ensure(values === 1 || values === count, () => `there are ${values} values for ${count} places`);
    const { scale, zeroPoint } = sparseValues;
    return { output: { dimensions, scale, zeroPoint } };
  },
  reference({ sparseIndices, sparseValues, defaultValue }, { output }) {
    const { length } = defaultValue.data;
    ensure(length === 1, () => `the default value: expected 1 element, got ${length}`);
    const [values, target] = [movable(sparseValues.data), movable(output.data)];
    const [units] = listsOf(sparseIndices.dimensions);
    const lists = numbersOf(sparseIndices.data);
    const compute = (first: number, end: number) => {
      for (let list = first; list < end; list++) {
        target[sliceOffset(lists, list, output.dimensions, 1)] = values[values.length === 1 ? 0 : list];
      }
    };
    const cost = 4 * (1 + output.dimensions.length);
    return [fillElements(target, movable(defaultValue.data)[0]), { units, cost, inTurn: true, compute }];
  },
});

/** The number of places, and of the indexes of each. */
function listsOf(dimensions: readonly number[]): readonly [count: number, depth: number] {
  const [count = 1, depth = 1] = dimensions;
  return [count, depth];
}
