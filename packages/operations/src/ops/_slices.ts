/**
 * Lookups: slices of a tensor along one axis, chosen by index.
 */
import { ensure } from "../fail.ts";
import type { Phase } from "../phases.ts";
import type { TensorData } from "../tensor.ts";

/** Refuses indexes outside [0, extent). */
export function ensureIndexes(indexes: TensorData, extent: number): Phase {
  const compute = (first: number, end: number) => {
    for (let position = first; position < end; position++) {
      const index = indexes[position];
      ensure(index >= 0 && index < extent, () => `index ${index} at ${position} is outside [0, ${extent})`);
    }
  };
  return { units: indexes.length, compute };
}

/**
 * target[o, p, i] = source[o, indexes[p], i]; the source is [outer, extent, inner]. An index of -1 leaves the target
 * unchanged.
 */
export function copySlices(
  source: TensorData,
  outer: number,
  extent: number,
  inner: number,
  indexes: TensorData,
  target: TensorData,
): Phase {
  const compute = (first: number, end: number) => {
    for (let write = first; write < end; ) {
      const slice = Math.floor(write / inner);
      const last = Math.min((slice + 1) * inner, end);
      const index = indexes[slice % indexes.length];
      const from = (Math.floor(slice / indexes.length) * extent + index) * inner + (write % inner);
      if (index >= 0) for (let at = write; at < last; at++) target[at] = source[from + at - write];
      write = last;
    }
  };
  return { units: outer * indexes.length * inner, compute };
}
