/**
 * Reductions over some axes of a tensor: the shape that remains, the loop, and the definitions of the REDUCE_* family.
 */
import type { OperationTypeName } from "@nnhal/types";
import { OperationType } from "@nnhal/types";
import { defineOperation, type RowOfLength } from "../define.ts";
import { ensure } from "../fail.ts";
import { bool, read, tensor } from "../params.ts";
import type { Phase } from "../phases.ts";
import { formatShape, resolveAxis, stridesOf } from "../shape.ts";
import { elementCount, type Tensor } from "../tensor.ts";
import { copyElements, fillElements } from "./_copies.ts";
import { movedInfo } from "./_moved.ts";
import { walk } from "./_walk.ts";

/** Combines one more element with the result so far. */
export type Combine<Value = number> = (result: Value, element: Value) => Value;

/** The part of a reduction that differs within the family. */
export interface Reduction {
  /** The initial value of a result. */
  readonly start: number;
  readonly combine: Combine;
  /** True if at least one element is required. */
  readonly needsElements?: true;
}

/** Returns for each axis whether an INT32 tensor of axes names it. Negative axes count from the end. */
export function reducedAxes({ data }: Tensor, rank: number): readonly boolean[] {
  const reduced = new Array<boolean>(rank).fill(false);
  for (const axis of data) reduced[resolveAxis(axis, rank)] = true;
  return reduced;
}

/** The shape of a result; [1] if no axis remains. */
export function reducedShape(
  dimensions: readonly number[],
  reduced: readonly boolean[],
  keepDimensions: boolean,
): readonly number[] {
  const rest = keepDimensions
    ? dimensions.map((extent, axis) => (reduced[axis] ? 1 : extent))
    : dimensions.filter((_, axis) => !reduced[axis]);
  return rest.length === 0 ? [1] : rest;
}

/** Number of elements that each result of a reduction is made of. */
export function reducedCount(dimensions: readonly number[], reduced: readonly boolean[]): number {
  return elementCount(dimensions.filter((_, axis) => reduced[axis]));
}

/** Refuses to reduce no elements. */
export function ensureElements(dimensions: readonly number[], reduced: readonly boolean[]): void {
  ensure(
    reducedCount(dimensions, reduced) > 0,
    () => `the axes that are reduced hold no elements, the shape being ${formatShape(dimensions)}`,
  );
}

/** Combines the elements along the reduced axes into `results`, which hold the initial values. */
export function reduce<Value extends number | bigint>(
  { data, dimensions }: { readonly data: ArrayLike<Value>; readonly dimensions: readonly number[] },
  reduced: readonly boolean[],
  results: { [index: number]: Value },
  combine: Combine<Value>,
): Phase {
  const resultSteps = stridesOf(dimensions.map((extent, axis) => (reduced[axis] ? 1 : extent)));
  const from = { start: 0, steps: stridesOf(dimensions) };
  const to = { start: 0, steps: resultSteps.map((step, axis) => (reduced[axis] ? 0 : step)) };
  const phase = walk(dimensions, from, to, (left, right, length) => {
    let element = left.at;
    let result = right.at;
    for (let index = 0; index < length; index++) {
      results[result] = combine(results[result], data[element]);
      element += left.step;
      result += right.step;
    }
  });
  return { ...phase, inTurn: true };
}

/** Defines an operation of the REDUCE_* family, all of them of HAL 1.2. */
export function defineReduction<const Name extends OperationTypeName & `REDUCE_${string}`>(
  name: Name,
  summary: string,
  types: readonly RowOfLength<2>[],
  { start, combine, needsElements }: Reduction,
) {
  return defineOperation({
    name,
    code: OperationType[name],
    summary,
    params: [tensor("input"), read(tensor("axes", "TENSOR_INT32")), bool("keepDimensions")],
    outputs: [tensor("output")],
    types,
    ranks: { input: [1, 4], axes: 1 },
    infer({ input, axes, keepDimensions }) {
      const { dimensions } = input;
      const reduced = reducedAxes(axes, dimensions.length);
      if (needsElements) ensureElements(dimensions, reduced);
      return { output: movedInfo(input, reducedShape(dimensions, reduced, keepDimensions)) };
    },
    reference({ input, axes }, { output }) {
      const results = new Float64Array(output.data.length);
      return [
        fillElements(results, start),
        reduce(input, reducedAxes(axes, input.dimensions.length), results, combine),
        copyElements(results, output.data),
      ];
    },
  });
}
