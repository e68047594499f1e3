/**
 * Lookups: slices of a tensor along one axis, chosen by index.
 */
import { ensure } from "../fail.ts";
import type { TensorData } from "../tensor.ts";
import { WORK_BETWEEN_PAUSES } from "./_convolution.ts";

/** Refuses indexes outside [0, extent). */
export function ensureIndexes(indexes: TensorData, extent: number): void {
  for (let position = 0; position < indexes.length; position++) {
    const index = indexes[position];
    ensure(index >= 0 && index < extent, () => `index ${index} at ${position} is outside [0, ${extent})`);
  }
}

/**
 * target[o, p, i] = source[o, indexes[p], i], where the source is [outer, extent, inner]. An index of -1 leaves the
 * target as it is.
 */
export function* copySlices(
  source: TensorData,
  outer: number,
  extent: number,
  inner: number,
  indexes: TensorData,
  target: TensorData,
): Generator<void, void> {
  let write = 0;
  let work = 0;
  for (let block = 0; block < outer; block++) {
    for (let position = 0; position < indexes.length; position++) {
      const index = indexes[position];
      if (index < 0) write += inner;
      else {
        const first = (block * extent + index) * inner;
        for (let read = first; read < first + inner; read++) target[write++] = source[read];
      }
      work += inner + 1;
      if (work > WORK_BETWEEN_PAUSES) {
        work = 0;
        yield;
      }
    }
  }
}
