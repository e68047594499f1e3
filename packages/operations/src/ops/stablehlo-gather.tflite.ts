/**
 * STABLEHLO_GATHER: windows of one size, each at the place that an index vector gives.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, omittable, read, tensor, wide } from "../params.ts";
import { formatShape, stridesOf } from "../shape.ts";
import type { Tensor, TensorInfo } from "../tensor.ts";
import { movesComplex } from "./_complex.tflite.ts";
import { ascendingAxes, indexedWindows, otherAxes, type Starts, startsOf } from "./_indexed-windows.tflite.ts";
import { indexTypes, listOf, movable, showList } from "./_integers.tflite.ts";
import { movedInfo } from "./_moved.ts";
import { realTypes } from "./_types.tflite.ts";

/** The parts of the operands that shapes follow from. */
interface Numbers {
  readonly operand: TensorInfo;
  readonly startIndices: TensorInfo;
  readonly offsetDims: Tensor | undefined;
  readonly collapsedSliceDims: Tensor | undefined;
  readonly startIndexMap: Tensor | undefined;
  readonly indexVectorDim: number;
  readonly sliceSizes: Tensor;
}

interface Layout {
  readonly starts: Starts;
  readonly sizes: readonly number[];
  /** The axes of the result within a window, and the axes of the operand that they are. */
  readonly windowAxes: readonly number[];
  readonly operandAxes: readonly number[];
  readonly shape: readonly number[];
}

export const stablehloGather = movesComplex(
  defineOperation({
    name: "STABLEHLO_GATHER",
    code: 1201,
    summary: "Takes windows of one size out of a tensor, each at the place that a vector of indices gives.",
    params: [
      wide(tensor("operand")),
      wide(tensor("startIndices")),
      omittable(read(tensor("offsetDims", "TENSOR_INT32"))),
      omittable(read(tensor("collapsedSliceDims", "TENSOR_INT32"))),
      omittable(read(tensor("startIndexMap", "TENSOR_INT32"))),
      int32("indexVectorDim"),
      read(tensor("sliceSizes", "TENSOR_INT32")),
    ],
    outputs: [wide(tensor("output"))],
    types: realTypes.flatMap((type) => indexTypes.map((index) => ["1.2", type, index, type] as const)),
    ranks: { offsetDims: 1, collapsedSliceDims: 1, startIndexMap: 1, sliceSizes: 1 },
    infer: (args) => ({ output: movedInfo(args.operand, asTensor(layoutOf(args).shape)) }),
    reference(args, { output }) {
      const { operand, startIndices } = args;
      const { starts, sizes, windowAxes, operandAxes, shape } = layoutOf(args);
      const { dimensions } = operand;
      const rank = dimensions.length;
      const steps = stridesOf(dimensions);
      const { start, distance, select } = indexedWindows(shape, windowAxes, operandAxes, rank, starts, startIndices);
      const [source, target] = [movable(operand.data), movable(output.data)];
      const compute = (begin: number, end: number) => {
        for (let place = begin; place < end; place++) {
          select(place);
          let from = 0;
          for (let axis = 0; axis < rank; axis++) {
            // A window that would end behind the tensor begins earlier.
            const last = dimensions[axis] - sizes[axis];
            const first = start[axis] < 0 ? 0 : start[axis] > last ? last : start[axis];
            from += (first + distance[axis]) * steps[axis];
          }
          target[place] = source[from];
        }
      };
      return { units: target.length, cost: 8 * (rank + 1), compute };
    },
  }),
);

function layoutOf({ operand, startIndices, ...options }: Numbers): Layout {
  const { dimensions } = operand;
  const rank = dimensions.length;
  const collapsed = ascendingAxes("collapsedSliceDims", options.collapsedSliceDims, rank);
  const map = { name: "startIndexMap", list: options.startIndexMap };
  const starts = startsOf(startIndices, options.indexVectorDim, map, rank);
  const sizes = listOf(options.sliceSizes);
  ensure(
    sizes.length === rank && sizes.every((size, axis) => size >= 0 && size <= dimensions[axis]),
    () => `sliceSizes: expected sizes within ${formatShape(dimensions)}, got ${showList(sizes)}`,
  );
  for (const axis of collapsed) {
    ensure(sizes[axis] <= 1, () => `the size of collapsed axis ${axis}: expected at most 1, got ${sizes[axis]}`);
  }
  const operandAxes = otherAxes(rank, collapsed);
  const resultRank = starts.shape.length + operandAxes.length;
  const windowAxes = ascendingAxes("offsetDims", options.offsetDims, resultRank);
  ensure(
    windowAxes.length === operandAxes.length,
    () => `expected ${operandAxes.length} offsetDims, got ${windowAxes.length}`,
  );
  const shape = new Array<number>(resultRank).fill(0);
  windowAxes.forEach((axis, i) => {
    shape[axis] = sizes[operandAxes[i]];
  });
  otherAxes(resultRank, windowAxes).forEach((axis, i) => {
    shape[axis] = starts.shape[i];
  });
  return { starts, sizes, windowAxes, operandAxes, shape };
}

/** A scalar is one element in one dimension. */
function asTensor(shape: readonly number[]): readonly number[] {
  return shape.length === 0 ? [1] : shape;
}
