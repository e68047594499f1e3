/**
 * STRIDED_SLICE with all its masks as one range for each dimension of the input.
 */
import { elementAt } from "@nnhal/operations";
import { listText } from "../error.ts";

/** The tensors and options of the operator. Bit i of a mask is about element i of begin, end and strides. */
export interface SparseSlice {
  readonly begin: readonly number[];
  readonly end: readonly number[];
  readonly strides: readonly number[];
  /** Dimensions that begin at their first place, or if they go backwards at the last one. */
  readonly beginMask: number;
  /** Dimensions that go to the end. */
  readonly endMask: number;
  /** The element that stands for all dimensions that the others leave. */
  readonly ellipsisMask: number;
  /** Elements that add a dimension of 1 to the result. */
  readonly newAxisMask: number;
  /** Dimensions of which one place is taken, whatever the end, and which the result does not have. */
  readonly shrinkAxisMask: number;
  /** True if ends count from the beginnings. */
  readonly isOffset: boolean;
}

/** The places begin, begin + step, … of a dimension. */
export interface SliceRange {
  readonly begin: number;
  readonly count: number;
  readonly step: number;
}

/** A slice with one range for each dimension of the input. */
export interface DenseSlice {
  readonly dimensions: readonly SliceRange[];
  /** The shape of the result. */
  readonly shape: readonly number[];
}

/** The ranges of a slice of a tensor; a problem for numbers that do not fit the tensor. */
export function denseSlice(shape: readonly number[], slice: SparseSlice): DenseSlice | { readonly problem: string } {
  const { begin, end, strides, ellipsisMask, newAxisMask } = slice;
  const count = begin.length;
  if (end.length !== count || strides.length !== count || count > 32) {
    return { problem: `begin, end and strides have ${count}, ${end.length} and ${strides.length} elements` };
  }
  const has = (mask: number, bit: number) => ((mask >>> bit) & 1) === 1;
  const places = Array.from({ length: count }, (_, bit) => bit);
  const ellipsis = places.find((bit) => has(ellipsisMask, bit));
  const taken = places.filter((bit) => bit !== ellipsis && !has(newAxisMask, bit)).length;
  if (taken > shape.length) return { problem: `${taken} ranges are for ${shape.length} dimensions` };
  const dimensions: SliceRange[] = [];
  const result: number[] = [];
  const whole = (number: number) => {
    for (let i = 0; i < number; i++) {
      const extent = elementAt(shape, dimensions.length);
      dimensions.push({ begin: 0, count: extent, step: 1 });
      result.push(extent);
    }
  };
  for (const bit of places) {
    if (bit === ellipsis) whole(shape.length - taken);
    else if (has(newAxisMask, bit)) result.push(1);
    else {
      const extent = elementAt(shape, dimensions.length);
      const range = rangeOf(slice, bit, extent);
      if (range === undefined) {
        return {
          problem: `element ${bit} of the slice does not fit an extent of ${extent} of the shape ${listText(shape)}`,
        };
      }
      dimensions.push(range);
      if (!has(slice.shrinkAxisMask, bit)) result.push(range.count);
    }
  }
  whole(shape.length - dimensions.length);
  return { dimensions, shape: result };
}

function rangeOf(slice: SparseSlice, bit: number, extent: number): SliceRange | undefined {
  const has = (mask: number) => ((mask >>> bit) & 1) === 1;
  const step = elementAt(slice.strides, bit);
  const first = elementAt(slice.begin, bit);
  if (step === 0) return undefined;
  if (has(slice.shrinkAxisMask)) {
    const open = step > 0 ? 0 : extent - 1;
    const place = has(slice.beginMask) ? open : first < 0 ? first + extent : first;
    return place >= 0 && place < extent ? { begin: place, count: 1, step: 1 } : undefined;
  }
  const [least, most] = step > 0 ? [0, extent] : [-1, extent - 1];
  const inside = (place: number) => Math.min(Math.max(place < 0 ? place + extent : place, least), most);
  const begin = has(slice.beginMask) ? (step > 0 ? 0 : extent - 1) : inside(first);
  const last = elementAt(slice.end, bit) + (slice.isOffset ? first : 0);
  const end = has(slice.endMask) ? (step > 0 ? extent : -1) : inside(last);
  return { begin, count: Math.max(0, Math.ceil((end - begin) / step)), step };
}
