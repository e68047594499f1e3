/**
 * The elements that STRIDED_SLICE takes along each axis.
 */
import { ensure } from "../fail.ts";
import { clamp } from "../fixed-point.ts";
import type { Tensor } from "../tensor.ts";

/** The elements along one axis: `length` of them from `first` on. */
export interface StridedRange {
  readonly first: number;
  readonly stride: number;
  readonly length: number;
}

/** The operands beside the input. */
export interface Slicing {
  readonly begin: Pick<Tensor, "data">;
  readonly end: Pick<Tensor, "data">;
  readonly strides: Pick<Tensor, "data">;
  readonly beginMask: number;
  readonly endMask: number;
  readonly shrinkAxisMask: number;
}

/** The ranges of all axes. Throws an OperationError. */
export function stridedRanges(dimensions: readonly number[], slicing: Slicing): readonly StridedRange[] {
  const { begin, end, strides, beginMask, endMask, shrinkAxisMask } = slicing;
  const rank = dimensions.length;
  for (const [name, operand] of Object.entries({ begin, end, strides })) {
    const { length } = operand.data;
    ensure(length === rank, () => `${name}: expected ${rank} elements (the rank), got ${length}`);
  }
  return dimensions.map((extent, axis) => {
    const stride = strides.data[axis];
    ensure(stride !== 0, () => `the stride of axis ${axis} is 0`);
    // The places that a slice may begin at and end before: one behind the last element it can reach.
    const [least, greatest] = stride > 0 ? [0, extent] : [-1, extent - 1];
    const resolve = (index: number) => clamp(index < 0 ? index + extent : index, least, greatest);
    const first = hasBit(beginMask, axis) ? (stride > 0 ? least : greatest) : resolve(begin.data[axis]);
    const past = hasBit(endMask, axis) ? (stride > 0 ? greatest : least) : resolve(end.data[axis]);
    const length = Math.max(0, Math.ceil((past - first) / stride));
    if (hasBit(shrinkAxisMask, axis)) {
      ensure(stride > 0, () => `the stride of removed axis ${axis}: expected a number > 0, got ${stride}`);
      ensure(length === 1, () => `removed axis ${axis}: expected 1 element, got ${length}`);
    }
    return { first, stride, length };
  });
}

/** True if a mask has the bit of an axis. */
export function hasBit(mask: number, bit: number): boolean {
  return (mask & (1 << bit)) !== 0;
}
