/** Interprets the operands of STRIDED_SLICE for each axis. */

import { ensure } from "../fail.ts";
import { clamp } from "../fixed-point.ts";
import { formatShape } from "../shape.ts";

/** The operands except the input. Bit i of a mask is for the i-th element of the lists. */
export interface Slicing {
  readonly begin: readonly number[];
  readonly end: readonly number[];
  readonly strides: readonly number[];
  /** The slice begins at the first element, or at the last one if the stride is negative. */
  readonly beginMask: number;
  /** The slice ends at the last element, or at the first one if the stride is negative. */
  readonly endMask: number;
  /** Takes one element, and removes the axis. */
  readonly shrinkAxisMask: number;
  /** Stands for as many whole axes as the other elements leave. */
  readonly ellipsisMask: number;
  /** Inserts an axis of extent 1. */
  readonly newAxisMask: number;
  /** The ends are counted from the beginnings. */
  readonly offset: boolean;
}

/** An axis of the result, or one that is removed from it. */
export interface SlicedAxis {
  /** The axis of the input; undefined if it is inserted. */
  readonly axis: number | undefined;
  readonly first: number;
  readonly stride: number;
  readonly length: number;
  readonly isRemoved: boolean;
}

/** Most elements of the lists: a mask has 32 bits. */
const mostElements = 32;

/** The axes of a slice, those that are removed included. Throws an OperationError if the lists do not fit the shape. */
export function slicedAxes(dimensions: readonly number[], slicing: Slicing): readonly SlicedAxis[] {
  const { begin, ellipsisMask, newAxisMask } = slicing;
  const count = begin.length;
  ensure(count <= mostElements, () => `begin has ${count} elements where at most ${mostElements} are possible`);
  const elements = Array.from(begin.keys());
  const isEllipsis = (element: number) => hasBit(ellipsisMask, element);
  const isNew = (element: number) => hasBit(newAxisMask, element) && !isEllipsis(element);
  const ellipses = elements.filter(isEllipsis);
  ensure(ellipses.length <= 1, () => `the ellipsis mask: expected at most one bit, got bits ${ellipses.join(" and ")}`);
  const rest = dimensions.length - elements.filter((element) => !isEllipsis(element) && !isNew(element)).length;
  ensure(
    rest >= 0,
    () =>
      `begin has ${dimensions.length - rest} elements for axes of ${formatShape(dimensions)}, which has ${dimensions.length}`,
  );
  const axes: SlicedAxis[] = [];
  let axis = 0;
  const takeWhole = () => {
    for (const end = axis + rest; axis < end; axis++) {
      axes.push({ axis, first: 0, stride: 1, length: dimensions[axis], isRemoved: false });
    }
  };
  for (const element of elements) {
    if (isEllipsis(element)) takeWhole();
    else if (isNew(element)) axes.push({ axis: undefined, first: 0, stride: 1, length: 1, isRemoved: false });
    else {
      axes.push(sliceAxis(axis, dimensions[axis], element, slicing));
      axis++;
    }
  }
  if (ellipses.length === 0) takeWhole();
  return axes;
}

function sliceAxis(axis: number, extent: number, element: number, slicing: Slicing): SlicedAxis {
  const { begin, end, strides, beginMask, endMask, shrinkAxisMask, offset } = slicing;
  const stride = strides[element];
  ensure(stride !== 0, () => `the stride of axis ${axis} is 0`);
  // The places that a slice may begin at and end before: one behind the last element that it can reach.
  const [least, greatest] = stride > 0 ? [0, extent] : [-1, extent - 1];
  const [open, past] = stride > 0 ? [least, greatest] : [greatest, least];
  const resolve = (index: number) => clamp(index < 0 ? index + extent : index, least, greatest);
  const first = hasBit(beginMask, element) ? open : resolve(begin[element]);
  if (hasBit(shrinkAxisMask, element)) {
    ensure(
      first >= 0 && first < extent,
      () => `axis ${axis} of extent ${extent}, which is removed, has no element ${begin[element]}`,
    );
    return { axis, first, stride: 1, length: 1, isRemoved: true };
  }
  const last = hasBit(endMask, element) ? past : resolve(offset ? first + end[element] : end[element]);
  return { axis, first, stride, length: Math.max(0, Math.ceil((last - first) / stride)), isRemoved: false };
}

function hasBit(mask: number, bit: number): boolean {
  return (mask & (1 << bit)) !== 0;
}
