/**
 * Lookups: slices of a tensor along one axis, chosen by index.
 */
import { ensure } from "../fail.ts";
import type { TensorData } from "../tensor.ts";
import { pacer } from "./_chunks.ts";
import { WORK_BETWEEN_PAUSES } from "./_convolution.ts";

/** Refuses indexes outside [0, extent). Pauses if there are many. */
export function* ensureIndexes(indexes: TensorData, extent: number): Generator<void, void> {
  const isTime = pacer();
  for (let position = 0; position < indexes.length; position++) {
    const index = indexes[position];
    ensure(index >= 0 && index < extent, () => `index ${index} at ${position} is outside [0, ${extent})`);
    if (isTime(1)) yield;
  }
}

/**
 * target[o, p, i] = source[o, indexes[p], i]; the source is [outer, extent, inner]. An index of -1 leaves the target
 * unchanged.
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
        for (let part = 0; part < inner; part += WORK_BETWEEN_PAUSES) {
          if (part > 0) yield;
          const end = first + Math.min(part + WORK_BETWEEN_PAUSES, inner);
          for (let read = first + part; read < end; read++) target[write++] = source[read];
        }
      }
      work += inner + 1;
      if (work > WORK_BETWEEN_PAUSES) {
        work = 0;
        yield;
      }
    }
  }
}
