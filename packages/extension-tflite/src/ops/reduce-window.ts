/**
 * REDUCE_WINDOW: one number for each place of a window that slides over a tensor. The elements of the window may lie apart.
 */
import { type AnyTensorData, elementCount, ensure, stridesOf, type Tensor } from "@nnhal/operations";
import { defineOperation, int32, pacer, read, tensor, wide } from "@nnhal/operations/authoring";
import { isLongs, listOf, movable } from "../_integers.ts";
import { tfliteTypes } from "../types.ts";

const { TENSOR_INT64, TENSOR_UINT32, TENSOR_UINT64, TENSOR_FLOAT64 } = tfliteTypes;

const elementTypes = [
  ...(["TENSOR_FLOAT32", TENSOR_FLOAT64, "TENSOR_INT32", TENSOR_INT64, TENSOR_UINT32, TENSOR_UINT64] as const),
  ...(["TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM", "TENSOR_QUANT16_ASYMM"] as const),
] as const;

/** How two elements become one, for numbers and for 64-bit integers. Arrays of a type wrap what they store. */
type Reduction = <T extends number | bigint>(left: T, right: T, one: T, zero: T) => T;

const add = (left: number | bigint, right: number | bigint) => (left as number) + (right as number);
const multiply = (left: number | bigint, right: number | bigint) => (left as number) * (right as number);

/** By the codes of the schema. 32-bit products beyond 2^53 need exact arithmetic: see `timesOf`. */
const reductions: readonly (Reduction | undefined)[] = [
  undefined,
  // The compiler does not know that both operands of + and * are of one kind.
  add as Reduction,
  multiply as Reduction,
  (left, right) => (left <= right ? left : right),
  (left, right) => (left >= right ? left : right),
  (left, right, one, zero) => (left && right ? one : zero),
  (left, right, one, zero) => (left || right ? one : zero),
];

const PRODUCT = 2;

/** A window: its extents, and how it moves and spreads, by dimension. */
interface Window {
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly dilations: readonly number[];
}

export const reduceWindow = defineOperation({
  name: "REDUCE_WINDOW",
  code: 1205,
  summary:
    "Slides a window over a tensor: each output is the sum, product, least, greatest, and or or of what is under it.",
  params: [
    wide(tensor("input")),
    wide(tensor("initValue")),
    read(wide(tensor("windowShape"))),
    read(wide(tensor("windowStrides"))),
    read(wide(tensor("windowDilations"))),
    int32("reduceFunction"),
  ],
  outputs: [wide(tensor("output"))],
  types: elementTypes.map((type) => ["1.2", type, type, TENSOR_INT64, TENSOR_INT64, TENSOR_INT64, type] as const),
  ranks: { input: [1, 6], windowShape: 1, windowStrides: 1, windowDilations: 1 },
  infer(args) {
    const { scale, zeroPoint, dimensions } = args.input;
    const { shape, strides, dilations } = windowOf(args, dimensions.length);
    const extents = dimensions.map((extent, axis) => {
      const span = (shape[axis] - 1) * dilations[axis] + 1;
      ensure(span <= extent, () => `the window spans ${span} of the ${extent} elements of axis ${axis}`);
      return Math.floor((extent - span) / strides[axis]) + 1;
    });
    reductionOf(args.reduceFunction);
    return { output: { dimensions: extents, scale, zeroPoint } };
  },
  *reference(args, { output }) {
    const { input, initValue, reduceFunction } = args;
    const { shape, strides, dilations } = windowOf(args, input.dimensions.length);
    const { length } = initValue.data;
    ensure(length === 1, () => `the initial value has ${length} elements where 1 is needed`);
    const steps = stridesOf(input.dimensions);
    const offsets = offsetsOf(
      shape,
      dilations.map((dilation, axis) => dilation * steps[axis]),
    );
    const starts = offsetsOf(
      output.dimensions,
      strides.map((stride, axis) => stride * steps[axis]),
    );
    const [source, target] = [movable(input.data), movable(output.data)];
    const reduce = reductionOf(reduceFunction);
    const isExact = input.type === "TENSOR_INT32" || input.type === TENSOR_UINT32;
    const combine = isExact && reduceFunction === PRODUCT ? (Math.imul as Reduction) : reduce;
    const [one, zero] = (isLongs(input.data) ? [1n, 0n] : [1, 0]) as [number, number];
    // The sum of a window is an element at each step, as it is in .tflite.
    const sum = target.slice(0, 1);
    const isTime = pacer();
    for (let place = 0; place < target.length; place++) {
      const start = starts.at(place);
      sum[0] = movable(initValue.data)[0];
      for (let index = 0; index < offsets.count; index++) {
        sum[0] = combine(sum[0], source[start + offsets.at(index)], one, zero);
        if (isTime(1)) yield;
      }
      target[place] = sum[0];
      if (isTime(1)) yield;
    }
  },
});

function reductionOf(code: number): Reduction {
  const reduction = reductions[code];
  ensure(reduction !== undefined, () => `the function is ${code} where ADD 1 to ANY 6 is needed`);
  return reduction;
}

function windowOf(
  args: Readonly<Record<`window${"Shape" | "Strides" | "Dilations"}`, Tensor<AnyTensorData>>>,
  rank: number,
): Window {
  const listOfWindow = (name: "Shape" | "Strides" | "Dilations") => {
    const list = listOf(args[`window${name}`]);
    ensure(
      list.length === rank && list.every((value) => value >= 1),
      () => `window${name} is [${list.join(", ")}] where ${rank} integers of at least 1 are needed`,
    );
    return list;
  };
  return { shape: listOfWindow("Shape"), strides: listOfWindow("Strides"), dilations: listOfWindow("Dilations") };
}

/** The offsets of the elements of a box whose neighbours are `steps` apart, by their order. */
function offsetsOf(shape: readonly number[], steps: readonly number[]) {
  return {
    count: elementCount(shape),
    at(index: number): number {
      let rest = index;
      let offset = 0;
      for (let axis = shape.length - 1; axis >= 0; axis--) {
        offset += (rest % shape[axis]) * steps[axis];
        rest = Math.floor(rest / shape[axis]);
      }
      return offset;
    },
  };
}
