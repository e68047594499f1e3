/**
 * Windows that slide over a tensor, and the functions that make one element of two.
 */

import { ensure } from "../fail.ts";
import type { AnyOperandType, AnyTensorData } from "../operand-type.ts";
import type { Phase } from "../phases.ts";
import { stridesOf } from "../shape.ts";
import { elementCount, type Tensor } from "../tensor.ts";
import { tfliteTypes } from "../tflite-types.ts";
import type { AnyOutput } from "./_elements.tflite.ts";
import { isLongs, movable, showList } from "./_integers.tflite.ts";

/**
 * Combines two elements. Typed arrays wrap the results that they store. 64-bit integers are combined as numbers are, although the compiler does
 * not know it: see `movable`.
 */
export type Reduction = (left: number, right: number, one: number, zero: number) => number;

const SUM = 1;
const PRODUCT = 2;
const ALL = 5;
const ANY = 6;

/** By the codes of the schema. */
const reductions: readonly (Reduction | undefined)[] = [
  undefined,
  (left, right) => left + right,
  (left, right) => left * right,
  (left, right) => (left <= right ? left : right),
  (left, right) => (left >= right ? left : right),
  (left, right, one, zero) => (left && right ? one : zero),
  (left, right, one, zero) => (left || right ? one : zero),
];

/** The function of a code, for elements of a type. Throws an OperationError if there is none. */
export function reductionFor(code: number, type: AnyOperandType): Reduction {
  const isBool = type === "TENSOR_BOOL8";
  const reduction = reductions[isBool && code === SUM ? ANY : isBool && code === PRODUCT ? ALL : code];
  ensure(reduction !== undefined, () => `the function: expected ADD 1 to ANY 6, got ${code}`);
  // 32-bit products beyond 2^53 need exact arithmetic.
  const isExact = type === "TENSOR_INT32" || type === tfliteTypes.TENSOR_UINT32;
  return isExact && code === PRODUCT ? Math.imul : reduction;
}

/** True and false as elements. */
export function truthValues(data: AnyTensorData): readonly [one: number, zero: number] {
  const [one, zero] = movable(isLongs(data) ? BigInt64Array.of(1n, 0n) : Int32Array.of(1, 0));
  return [one, zero];
}

/** A window: its extents, and how it moves and spreads, by dimension. */
export interface Window {
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly dilations: readonly number[];
}

/** A list of a window, checked: one integer of at least 1 for each dimension. */
export function windowList(name: string, list: readonly number[], rank: number): readonly number[] {
  ensure(
    list.length === rank && list.every((value) => value >= 1),
    () => `${name}: expected ${rank} integers of at least 1, got ${showList(list)}`,
  );
  return list;
}

/** The extents of the result of a window over a tensor of a shape. Throws an OperationError if the window does not fit. */
export function slidExtents(dimensions: readonly number[], { shape, strides, dilations }: Window): readonly number[] {
  return dimensions.map((extent, axis) => {
    const span = (shape[axis] - 1) * dilations[axis] + 1;
    ensure(span <= extent, () => `the window spans ${span} of the ${extent} elements of axis ${axis}`);
    return Math.floor((extent - span) / strides[axis]) + 1;
  });
}

/** Room around the elements of a tensor, and between them. */
interface Room {
  /** By axis, the places before the first element. */
  readonly low: readonly number[];
  /** By axis, the distance from one element to the next. */
  readonly distance: readonly number[];
}

/** Elements of a window that are reduced in one unit. */
const PART = 1 << 12;

/** Reduces the elements under the window at each of its positions. The initial value fills the gaps. Default: no initial value. */
export function slideWindow(
  { dimensions, data }: Tensor<AnyTensorData>,
  initValue: Tensor<AnyTensorData>,
  output: AnyOutput,
  { shape, strides, dilations }: Window,
  combine: Reduction,
  room: Room = { low: dimensions.map(() => 0), distance: dimensions.map(() => 1) },
): Phase {
  const { low, distance } = room;
  const steps = stridesOf(dimensions);
  const places = stridesOf(output.dimensions);
  const [source, target] = [movable(data), movable(output.data)];
  const [one, zero] = truthValues(output.data);
  const first = initial(initValue);
  const count = elementCount(shape);
  const starts = new Float64Array(dimensions.length);
  // The sum of a window is an element at each step, as it is in .tflite.
  const sum = target.slice(0, 1);
  const parts = Math.ceil(count / PART);
  // A unit is a position of the window, or a part of the window there.
  const compute = (start: number, stop: number) => {
    for (let unit = start; unit < stop; unit++) {
      const [place, part] = [Math.floor(unit / parts), unit % parts];
      for (let axis = 0; axis < starts.length; axis++) {
        starts[axis] = (Math.floor(place / places[axis]) % output.dimensions[axis]) * strides[axis] - low[axis];
      }
      if (part === 0) sum[0] = first;
      const end = Math.min(count, (part + 1) * PART);
      for (let index = part * PART; index < end; index++) {
        let rest = index;
        let from = 0;
        for (let axis = shape.length - 1; axis >= 0; axis--) {
          const element = (starts[axis] + (rest % shape[axis]) * dilations[axis]) / distance[axis];
          rest = Math.floor(rest / shape[axis]);
          if (Number.isInteger(element) && element >= 0 && element < dimensions[axis]) from += element * steps[axis];
          else from = Number.NaN;
        }
        sum[0] = combine(sum[0], Number.isNaN(from) ? first : source[from], one, zero);
      }
      if (part === parts - 1) target[place] = sum[0];
    }
  };
  return { units: target.length * parts, cost: 8 * Math.min(count, PART) * shape.length, inTurn: true, compute };
}

/** The initial value, which is one element. */
function initial({ data }: Tensor<AnyTensorData>): number {
  ensure(data.length === 1, () => `the initial value: expected 1 element, got ${data.length}`);
  return movable(data)[0];
}
