/**
 * STABLEHLO_SCATTER: windows that change a tensor, each at the place that an index vector gives. Elements outside the tensor are ignored.
 */

import { defineOperation } from "../define.ts";
import { ensure } from "../fail.ts";
import { int32, omittable, read, tensor, wide } from "../params.ts";
import { formatShape, sameShape, stridesOf } from "../shape.ts";
import type { Tensor, TensorInfo } from "../tensor.ts";
import { copyElements } from "./_copies.ts";
import { ascendingAxes, indexedWindows, otherAxes, startsOf } from "./_indexed-windows.tflite.ts";
import { indexTypes, movable } from "./_integers.tflite.ts";
import { movedInfo } from "./_moved.ts";
import { realTypes } from "./_types.tflite.ts";
import { reductionFor, truthValues } from "./_window.tflite.ts";

/** The code of a body that keeps the update; the others are those of REDUCE_WINDOW. */
const UPDATE = 0;

/** The parts of the operands that shapes follow from. */
interface Numbers {
  readonly operand: TensorInfo;
  readonly scatterIndices: TensorInfo;
  readonly updates: TensorInfo;
  readonly updateWindowDims: Tensor | undefined;
  readonly insertedWindowDims: Tensor | undefined;
  readonly scatterDimsToOperandDims: Tensor | undefined;
  readonly indexVectorDim: number;
}

export const stablehloScatter = defineOperation({
  name: "STABLEHLO_SCATTER",
  code: 1190,
  summary: "Combines windows with the elements of a tensor, each at the place that a vector of indices gives.",
  params: [
    wide(tensor("operand")),
    wide(tensor("scatterIndices")),
    wide(tensor("updates")),
    omittable(read(tensor("updateWindowDims", "TENSOR_INT32"))),
    omittable(read(tensor("insertedWindowDims", "TENSOR_INT32"))),
    omittable(read(tensor("scatterDimsToOperandDims", "TENSOR_INT32"))),
    int32("indexVectorDim"),
    int32("updateFunction"),
  ],
  outputs: [wide(tensor("output"))],
  types: realTypes.flatMap((type) => indexTypes.map((index) => ["1.2", type, index, type, type] as const)),
  ranks: { updateWindowDims: 1, insertedWindowDims: 1, scatterDimsToOperandDims: 1 },
  infer(args) {
    layoutOf(args);
    if (args.updateFunction !== UPDATE) reductionFor(args.updateFunction, args.operand.type);
    return { output: movedInfo(args.operand, args.operand.dimensions) };
  },
  reference(args, { output }) {
    const { operand, scatterIndices, updates, updateFunction } = args;
    const { starts, shape, windowAxes, operandAxes } = layoutOf(args);
    const { dimensions } = operand;
    const rank = dimensions.length;
    const steps = stridesOf(dimensions);
    const { start, distance, select } = indexedWindows(shape, windowAxes, operandAxes, rank, starts, scatterIndices);
    const [source, target] = [movable(updates.data), movable(output.data)];
    const combine = updateFunction === UPDATE ? undefined : reductionFor(updateFunction, operand.type);
    const [one, zero] = truthValues(operand.data);
    const compute = (first: number, end: number) => {
      for (let place = first; place < end; place++) {
        select(place);
        let to = 0;
        let isInside = true;
        for (let axis = 0; axis < rank; axis++) {
          const index = start[axis] + distance[axis];
          if (!(index >= 0 && index < dimensions[axis])) isInside = false;
          to += index * steps[axis];
        }
        if (isInside) {
          target[to] = combine === undefined ? source[place] : combine(target[to], source[place], one, zero);
        }
      }
    };
    // In turn, since several updates may be for one element.
    const update = { units: source.length, cost: 8 * (rank + 1), inTurn: true, compute };
    return [copyElements(movable(operand.data), target), update];
  },
});

function layoutOf({ operand, scatterIndices, updates, ...options }: Numbers) {
  const rank = operand.dimensions.length;
  const inserted = ascendingAxes("insertedWindowDims", options.insertedWindowDims, rank);
  const map = { name: "scatterDimsToOperandDims", list: options.scatterDimsToOperandDims };
  const starts = startsOf(scatterIndices, options.indexVectorDim, map, rank);
  const operandAxes = otherAxes(rank, inserted);
  const needed = starts.shape.length + operandAxes.length;
  // A scalar of .tflite is one element in one dimension.
  const shape = needed === 0 && sameShape(updates.dimensions, [1]) ? [] : updates.dimensions;
  ensure(shape.length === needed, () => `the updates: expected ${needed} axes, got ${shape.length}`);
  const windowAxes = ascendingAxes("updateWindowDims", options.updateWindowDims, needed);
  ensure(
    windowAxes.length === operandAxes.length,
    () => `expected ${operandAxes.length} updateWindowDims, got ${windowAxes.length}`,
  );
  windowAxes.forEach((axis, i) => {
    const most = operand.dimensions[operandAxes[i]];
    ensure(
      shape[axis] <= most,
      () => `axis ${axis} of the updates has ${shape[axis]} elements where at most ${most} fit`,
    );
  });
  const between = otherAxes(needed, windowAxes).map((axis) => shape[axis]);
  ensure(
    sameShape(between, starts.shape),
    () => `the updates: expected ${formatShape(starts.shape)} windows, got ${formatShape(between)}`,
  );
  return { starts, shape, windowAxes, operandAxes };
}
