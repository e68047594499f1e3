/**
 * Lanes: the elements of a tensor along one axis.
 */
import { extentProduct } from "../shape.ts";

/** The lanes of a tensor along an axis, in row-major order of the other axes. */
export interface Lanes {
  readonly count: number;
  /** Elements of a lane. */
  readonly length: number;
  /** The distance between two elements of a lane. */
  readonly step: number;
}

/** The lanes along an axis. */
export function lanesOf(dimensions: readonly number[], axis: number): Lanes {
  const step = extentProduct(dimensions, axis + 1);
  return { count: extentProduct(dimensions, 0, axis) * step, length: dimensions[axis], step };
}

/** The indexes of the first element of a lane, and of the first one behind it. */
export function boundsOf({ length, step }: Lanes, lane: number): readonly [start: number, end: number] {
  const start = Math.floor(lane / step) * step * length + (lane % step);
  return [start, start + length * step];
}
