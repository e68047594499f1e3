/**
 * Random shapes and operands, of which the cases of written shapes are made.
 */
import fc from "fast-check";
import type { TensorGiven } from "../_model.test-helper.ts";
import type { TfliteOperator } from "../model.ts";

export type Shape = readonly number[];

/** One operator on random operands. */
export interface Given {
  readonly inputs: Readonly<Record<string, TensorGiven>>;
  readonly shapes: readonly Shape[];
  readonly options?: TfliteOperator["options"];
  /** The element type of the results. Default: that of the first input. */
  readonly type?: TensorGiven["type"];
  /** The element types of several results that differ. */
  readonly types?: readonly NonNullable<TensorGiven["type"]>[];
}

export const extent = fc.integer({ min: 1, max: 4 });
export const shapeOf = (least: number, greatest: number) => fc.array(extent, { minLength: least, maxLength: greatest });
export const image = fc.tuple(extent, fc.integer({ min: 3, max: 7 }), fc.integer({ min: 3, max: 7 }), extent);
export const type = fc.constantFrom<NonNullable<TensorGiven["type"]>>("FLOAT32", "INT8", "INT32", "INT64");
export const realType = fc.constantFrom<NonNullable<TensorGiven["type"]>>("FLOAT32", "INT8", "INT16");

export const quantise = (kind: TensorGiven["type"]) => (kind === "INT8" || kind === "INT16" ? { scale: 0.5 } : {});
export const tensor = (kind: NonNullable<TensorGiven["type"]>, shape: Shape): TensorGiven => ({
  type: kind,
  shape,
  ...quantise(kind),
});
export const list = (...data: readonly number[]): TensorGiven => ({ type: "INT32", shape: [data.length], data });
export const scalar = (value: number): TensorGiven => ({ type: "INT32", shape: [], data: [value] });
export const weights = (shape: Shape): TensorGiven => ({
  shape,
  data: upTo(product(shape)).map((index) => (index % 5) - 2),
});

export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

export function product(shape: Shape): number {
  return shape.reduce((size, each) => size * each, 1);
}

/** Extents of windows of `size` that slide by `stride`. */
export const slide = (size: number, stride: number, same: boolean) => (whole: number) =>
  same ? Math.ceil(whole / stride) : Math.floor((whole - size) / stride) + 1;

export const sliding = fc.record({
  size: fc.integer({ min: 1, max: 3 }),
  stride: fc.integer({ min: 1, max: 3 }),
  same: fc.boolean(),
});

/** A shape, and one that broadcasts with it. */
export const broadcasting = shapeOf(1, 4).chain((shape) =>
  fc
    .tuple(fc.integer({ min: 0, max: shape.length - 1 }), fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }))
    .map(([from, ones]) => [shape, shape.slice(from).map((each, axis) => (ones[axis] ? 1 : each))] as const),
);

export const longList = (...data: readonly number[]): TensorGiven => ({ type: "INT64", shape: [data.length], data });
/** Windows of 2 by 2 that move by 1. */
export const windowLists = {
  ...{ window: longList(2, 2), strides: longList(1, 1), dilations: longList(1, 1) },
};

export const withAxis = shapeOf(1, 4).chain((shape) => fc.tuple(fc.constant(shape), fc.nat(shape.length - 1)));
