/**
 * Broadcasting: operands whose shapes differ are written out in the result's shape first, so that kernels are plain loops
 * over elements side by side.
 */
import type { Filled, Phase } from "../phases.ts";
import { broadcastShape, extentProduct, sameShape, stridesOf } from "../shape.ts";
import { createData, type Tensor, type TensorData, type TensorInfo } from "../tensor.ts";
import { copySteps } from "./_rearrange.ts";

/** The output of an operation that broadcasts two tensors and keeps the model's quantisation. */
export function inferBroadcast(left: TensorInfo, right: TensorInfo): { output: { dimensions: number[] } } {
  return { output: { dimensions: broadcastShape(left.dimensions, right.dimensions) } };
}

/**
 * The elements of a tensor repeated to a shape that it broadcasts to; the tensor's own elements if the shapes agree.
 */
export function broadcastData({ type, data, dimensions }: Tensor, shape: readonly number[]): Filled<TensorData> {
  if (sameShape(dimensions, shape)) return { data, phases: [] };
  const result = createData(type, extentProduct(shape, 0));
  const missing = shape.length - dimensions.length;
  const own = stridesOf(dimensions);
  // Repeats take no step.
  const steps = shape.map((_, axis) => (axis < missing || dimensions[axis - missing] === 1 ? 0 : own[axis - missing]));
  const to = { start: 0, steps: stridesOf(shape) };
  return { data: result, phases: [copySteps(shape, data, { start: 0, steps }, result, to)] };
}

/** Computes the results of the pairs [first, end) of elements. */
export type PairLoop = (left: TensorData, right: TensorData, result: TensorData, first: number, end: number) => void;

/** The phases of a loop over two operands side by side. */
export function pairPhases(
  [left, right]: readonly Filled<TensorData>[],
  output: TensorData,
  loop: PairLoop,
): readonly Phase[] {
  const compute = (first: number, end: number) => loop(left.data, right.data, output, first, end);
  return left.phases.concat(right.phases, { units: output.length, apart: true, compute });
}
