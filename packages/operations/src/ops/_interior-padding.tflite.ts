/**
 * Padding around the elements of a tensor and between them. Less than 0 around them cuts elements off.
 */

import { ensure } from "../fail.ts";
import type { Phase } from "../phases.ts";
import { stridesOf } from "../shape.ts";
import { elementCount, type TensorData } from "../tensor.ts";
import { fillElements } from "./_copies.ts";

/** Numbers of elements, by axis. */
export interface Padding {
  readonly low: readonly number[];
  readonly high: readonly number[];
  readonly interior: readonly number[];
}

/** The extents with the padding. Throws an OperationError if it does not fit the shape. */
export function paddedExtents(dimensions: readonly number[], { low, high, interior }: Padding): readonly number[] {
  return dimensions.map((extent, axis) => {
    ensure(
      interior[axis] >= 0,
      () => `the padding between elements of axis ${axis}: expected at least 0, got ${interior[axis]}`,
    );
    const padded = extent + Math.max(extent - 1, 0) * interior[axis] + low[axis] + high[axis];
    ensure(padded >= 0, () => `the paddings of axis ${axis} cut off more than its ${extent} elements`);
    return padded;
  });
}

/** Phases that fill `target`, a tensor of the shape `padded`, with the value and the elements of `source`. */
export function padWithin(
  dimensions: readonly number[],
  source: TensorData,
  padding: Padding,
  padded: readonly number[],
  target: TensorData,
  value: number,
): readonly Phase[] {
  const { low, interior } = padding;
  const [from, to] = [stridesOf(dimensions), stridesOf(padded)];
  // By axis, the elements that are not cut off: the first one, and the one behind the last.
  const bounds = dimensions.map((extent, axis) => {
    const step = interior[axis] + 1;
    const first = Math.max(0, Math.ceil(-low[axis] / step));
    return [first, Math.max(first, Math.min(extent, Math.ceil((padded[axis] - low[axis]) / step)))] as const;
  });
  const extents = bounds.map(([first, end]) => end - first);
  const last = dimensions.length - 1;
  const width = extents[last];
  const step = interior[last] + 1;
  // A unit is an element that is not cut off; those of a row follow each other.
  const compute = (start: number, end: number) => {
    for (let unit = start; unit < end; ) {
      const column = unit % width;
      let [row, read, write] = [(unit - column) / width, bounds[last][0], low[last] + bounds[last][0] * step];
      for (let axis = last - 1; axis >= 0; axis--) {
        const place = bounds[axis][0] + (row % extents[axis]);
        row = Math.floor(row / extents[axis]);
        read += place * from[axis];
        write += (low[axis] + place * (interior[axis] + 1)) * to[axis];
      }
      const stop = Math.min(end - unit + column, width);
      for (let index = column; index < stop; index++) target[write + index * step] = source[read + index];
      unit += stop - column;
    }
  };
  return [fillElements(target, value), { units: elementCount(extents), compute }];
}
