/**
 * Padding around the elements of a tensor and between them. Less than 0 around them cuts elements off.
 */
import { ensure, stridesOf, type TensorData } from "@nnhal/operations";
import { pacer } from "@nnhal/operations/authoring";
import { fillInChunks } from "@nnhal/operations/kernels";
import { WORK_OF_A_RUN } from "./_runs.ts";

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

/** Fills `target`, a tensor of the shape `padded`, with the value and the elements of `source`. */
export function* padWithin(
  dimensions: readonly number[],
  source: TensorData,
  padding: Padding,
  padded: readonly number[],
  target: TensorData,
  value: number,
): Generator<void, void> {
  yield* fillInChunks(target, value);
  const { low, interior } = padding;
  const [from, to] = [stridesOf(dimensions), stridesOf(padded)];
  // By axis, the elements that are not cut off: the first one, and the one behind the last.
  const bounds = dimensions.map((extent, axis) => {
    const step = interior[axis] + 1;
    const first = Math.max(0, Math.ceil(-low[axis] / step));
    return [first, Math.max(first, Math.min(extent, Math.ceil((padded[axis] - low[axis]) / step)))] as const;
  });
  if (bounds.some(([first, end]) => first === end)) return;
  const last = dimensions.length - 1;
  const places = bounds.map(([first]) => first);
  const isTime = pacer();
  for (let axis = last; axis >= 0; ) {
    let [read, write] = [0, 0];
    for (let each = 0; each < last; each++) {
      read += places[each] * from[each];
      write += (low[each] + places[each] * (interior[each] + 1)) * to[each];
    }
    const [first, end] = bounds[last];
    for (let index = first; index < end; index++) {
      target[write + low[last] + index * (interior[last] + 1)] = source[read + index];
      if (isTime(1)) yield;
    }
    if (isTime(WORK_OF_A_RUN)) yield;
    for (axis = last - 1; axis >= 0; axis--) {
      if (++places[axis] < bounds[axis][1]) break;
      places[axis] = bounds[axis][0];
    }
  }
}
