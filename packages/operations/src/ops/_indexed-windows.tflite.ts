/**
 * Windows of a tensor that begin at computed places, as STABLEHLO_GATHER reads and STABLEHLO_SCATTER writes them. A second tensor has the
 * elements of all windows: some of its axes run within a window, and the others from one window to the next.
 */

import { ensure } from "../fail.ts";
import type { AnyTensorData } from "../operand-type.ts";
import { stridesOf } from "../shape.ts";
import type { Tensor, TensorInfo } from "../tensor.ts";
import { numbersOf, showList } from "./_integers.tflite.ts";

/** A list of axes that an option has; undefined: none. Throws an OperationError unless they ascend within `rank`. */
export function ascendingAxes(name: string, list: Tensor | undefined, rank: number): readonly number[] {
  const axes = Array.from(list?.data ?? []);
  ensure(
    axes.every((axis, place) => axis >= 0 && axis < rank && (place === 0 || axis > axes[place - 1])),
    () => `${name}: expected ascending axes of ${rank}, got ${showList(axes)}`,
  );
  return axes;
}

/** Storage of the starts of windows: a vector for each window, along one axis of the indices. */
export interface Starts {
  /** The extents of the axes from one window to the next. */
  readonly shape: readonly number[];
  /** The axes of the tensor that the elements of a vector are for. */
  readonly axes: readonly number[];
  /** The place of the first element of a window's vector, and the distance to the next one. */
  placeOf(window: number): number;
  readonly step: number;
}

/** The starts in indices of a shape. `rank`: that of the tensor with the windows. Throws an OperationError if they do not fit. */
export function startsOf(
  { dimensions }: TensorInfo,
  vectorAxis: number,
  { name, list }: { readonly name: string; readonly list: Tensor | undefined },
  rank: number,
): Starts {
  ensure(
    vectorAxis >= 0 && vectorAxis <= dimensions.length,
    () => `indexVectorDim: expected 0 to ${dimensions.length}, got ${vectorAxis}`,
  );
  // Behind the last axis, each index is a vector of one element.
  const size = dimensions[vectorAxis] ?? 1;
  const axes = Array.from(list?.data ?? []);
  ensure(
    axes.length === size && new Set(axes).size === size && axes.every((axis) => axis >= 0 && axis < rank),
    () => `${name}: expected ${size} different axes of ${rank}, got ${showList(axes)}`,
  );
  const step = dimensions.slice(vectorAxis + 1).reduce((product, extent) => product * extent, 1);
  return {
    shape: dimensions.filter((_, axis) => axis !== vectorAxis),
    axes,
    placeOf: (window) => Math.floor(window / step) * step * size + (window % step),
    step,
  };
}

/** All axes below `rank` but the given ones. */
export function otherAxes(rank: number, axes: readonly number[]): readonly number[] {
  const taken = new Set(axes);
  return Array.from({ length: rank }, (_, axis) => axis).filter((axis) => !taken.has(axis));
}

/** The elements of all windows: where each one lies. */
export interface IndexedWindows {
  /** By axis of the tensor with the windows: the start of the element's window, as stored. */
  readonly start: Float64Array;
  /** By axis: the distance of the element from that start. */
  readonly distance: Float64Array;
  /** Sets both for an element, by its place among those of all windows. */
  select(place: number): void;
}

/** `shape`: of the tensor with all windows; `windowAxes`: its axes within a window; `tensorAxes`: the axes that these are in the other tensor. */
export function indexedWindows(
  shape: readonly number[],
  windowAxes: readonly number[],
  tensorAxes: readonly number[],
  rank: number,
  starts: Starts,
  indices: Tensor<AnyTensorData>,
): IndexedWindows {
  const steps = stridesOf(shape);
  const betweenAxes = otherAxes(shape.length, windowAxes);
  const betweenSteps = stridesOf(starts.shape);
  const stored = numbersOf(indices.data);
  const start = new Float64Array(rank);
  const distance = new Float64Array(rank);
  let selected = -1;
  const along = (axis: number, place: number) => Math.floor(place / steps[axis]) % shape[axis];
  return {
    start,
    distance,
    select(place) {
      for (let i = 0; i < windowAxes.length; i++) distance[tensorAxes[i]] = along(windowAxes[i], place);
      let window = 0;
      for (let i = 0; i < betweenAxes.length; i++) window += along(betweenAxes[i], place) * betweenSteps[i];
      if (window === selected) return;
      selected = window;
      const first = starts.placeOf(window);
      for (let i = 0; i < starts.axes.length; i++) start[starts.axes[i]] = stored[first + i * starts.step];
    },
  };
}
