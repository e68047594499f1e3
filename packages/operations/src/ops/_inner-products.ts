/**
 * The inner products of convolutions and fully connected layers. Four filters share a pass over one or two patches, since their sums
 * do not wait for each other: measured, a plain loop takes two to four times as long.
 */
import { STEPS_BETWEEN_PAUSES } from "../phases.ts";

/** Filters of a unit: as many of `count` filters of a length as a range has room for. */
export function filtersOfUnit(count: number, length: number): number {
  return Math.min(count, Math.max(4, Math.floor(STEPS_BETWEEN_PAUSES / length) & ~3));
}

/** sums[o] = bias[o] + patch · filter o, for the filters [first, end). */
export function multiply(
  patch: Float64Array,
  filters: Float64Array,
  bias: Float64Array,
  first: number,
  end: number,
  sums: Float64Array,
): void {
  const length = patch.length;
  let filter = first;
  for (; filter + 4 <= end; filter += 4) {
    let at = filter * length;
    let sum0 = bias[filter];
    let sum1 = bias[filter + 1];
    let sum2 = bias[filter + 2];
    let sum3 = bias[filter + 3];
    for (let index = 0; index < length; index++, at++) {
      const value = patch[index];
      sum0 += value * filters[at];
      sum1 += value * filters[at + length];
      sum2 += value * filters[at + 2 * length];
      sum3 += value * filters[at + 3 * length];
    }
    sums[filter] = sum0;
    sums[filter + 1] = sum1;
    sums[filter + 2] = sum2;
    sums[filter + 3] = sum3;
  }
  for (; filter < end; filter++) {
    let at = filter * length;
    let sum = bias[filter];
    for (let index = 0; index < length; index++) sum += patch[index] * filters[at++];
    sums[filter] = sum;
  }
}

/** `multiply` of two patches at once, which reads each filter once for both. */
export function multiplyTwo(
  patch: Float64Array,
  nextPatch: Float64Array,
  filters: Float64Array,
  bias: Float64Array,
  first: number,
  end: number,
  sums: Float64Array,
  nextSums: Float64Array,
): void {
  const length = patch.length;
  let filter = first;
  for (; filter + 4 <= end; filter += 4) {
    let at = filter * length;
    let sum0 = bias[filter];
    let sum1 = bias[filter + 1];
    let sum2 = bias[filter + 2];
    let sum3 = bias[filter + 3];
    let next0 = sum0;
    let next1 = sum1;
    let next2 = sum2;
    let next3 = sum3;
    for (let index = 0; index < length; index++, at++) {
      const value = patch[index];
      const next = nextPatch[index];
      const filter0 = filters[at];
      const filter1 = filters[at + length];
      const filter2 = filters[at + 2 * length];
      const filter3 = filters[at + 3 * length];
      sum0 += value * filter0;
      sum1 += value * filter1;
      sum2 += value * filter2;
      sum3 += value * filter3;
      next0 += next * filter0;
      next1 += next * filter1;
      next2 += next * filter2;
      next3 += next * filter3;
    }
    sums[filter] = sum0;
    sums[filter + 1] = sum1;
    sums[filter + 2] = sum2;
    sums[filter + 3] = sum3;
    nextSums[filter] = next0;
    nextSums[filter + 1] = next1;
    nextSums[filter + 2] = next2;
    nextSums[filter + 3] = next3;
  }
  if (filter < end) {
    multiply(patch, filters, bias, filter, end, sums);
    multiply(nextPatch, filters, bias, filter, end, nextSums);
  }
}
