/**
 * Copies between two tensors with steps of their own; slices, transpositions, pads and tiles are such copies.
 */
import type { Phase } from "../phases.ts";
import { stridesOf } from "../shape.ts";
import type { TensorData } from "../tensor.ts";
import { type Steps, walk } from "./_walk.ts";

/** target[to + Σ iₐ·stepₐ] = source[from + Σ iₐ·stepₐ] for every i within the extents. */
export function copySteps(
  extents: readonly number[],
  source: TensorData,
  from: Steps,
  target: TensorData,
  to: Steps,
): Phase {
  return walk(extents, from, to, (left, right, length) => {
    let read = left.at;
    let write = right.at;
    for (let index = 0; index < length; index++) {
      target[write] = source[read];
      read += left.step;
      write += right.step;
    }
  });
}

/**
 * Copies the elements of `dimensions`, axes in another order: axis a of the target is axis order[a] of the source.
 */
export function permute(
  source: TensorData,
  dimensions: readonly number[],
  order: readonly number[],
  target: TensorData,
): Phase {
  const steps = stridesOf(dimensions);
  const extents = order.map((axis) => dimensions[axis]);
  const from = { start: 0, steps: order.map((axis) => steps[axis]) };
  return copySteps(extents, source, from, target, { start: 0, steps: stridesOf(extents) });
}

/** Copies `source` into a larger target, its first element at `offsets`. */
export function place(
  source: TensorData,
  sourceDimensions: readonly number[],
  target: TensorData,
  targetDimensions: readonly number[],
  offsets: readonly number[],
): Phase {
  const steps = stridesOf(targetDimensions);
  const to = { start: offsetOf(offsets, steps), steps };
  return copySteps(sourceDimensions, source, { start: 0, steps: stridesOf(sourceDimensions) }, target, to);
}

/** The index of the element at a position. */
export function offsetOf(position: readonly number[], steps: readonly number[]): number {
  return position.reduce((sum, index, axis) => sum + index * steps[axis], 0);
}

/** Copies the elements of `dimensions` backwards along some axes. */
export function reverseAxes(
  source: TensorData,
  dimensions: readonly number[],
  axes: ReadonlySet<number>,
  target: TensorData,
): Phase {
  const steps = stridesOf(dimensions);
  const from = {
    start: [...axes].reduce((sum, axis) => sum + (dimensions[axis] - 1) * steps[axis], 0),
    steps: steps.map((step, axis) => (axes.has(axis) ? -step : step)),
  };
  return copySteps(dimensions, source, from, target, { start: 0, steps });
}
