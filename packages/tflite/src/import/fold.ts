/**
 * Operators on integer constants, such as those that work out shapes and paddings: the import computes them, and their results are
 * constants.
 */
import { elementAt } from "@nnhal/operations";
import type { OptionValue } from "../schema/options.ts";
import { denseSlice } from "./dense-slice.ts";
import { type IntegerTensor, MOST_FOLDED } from "./integer-tensor.ts";

/** An operator whose inputs are all constants. */
export interface ConstantOperator {
  readonly name: string;
  readonly inputs: readonly IntegerTensor[];
  /** The shape of the result that the file states. */
  readonly shape: readonly number[];
  option(name: string): OptionValue | undefined;
}

/** The values of the result; undefined if the operator cannot be computed. */
type Fold = (operator: ConstantOperator) => readonly number[] | undefined;

function sizeOf(shape: readonly number[]): number {
  return shape.reduce((size, extent) => size * extent, 1);
}

/** The place of an element of a broadcast tensor, by the indexes of the result. */
function broadcastPlace({ shape }: IntegerTensor, indexes: readonly number[]): number {
  const skipped = indexes.length - shape.length;
  return shape.reduce((place, extent, i) => place * extent + (extent === 1 ? 0 : (indexes[skipped + i] ?? 0)), 0);
}

function* indexesOf(shape: readonly number[]): Generator<readonly number[]> {
  const size = sizeOf(shape);
  for (let place = 0; place < size; place++) {
    let rest = place;
    const indexes = shape.map(() => 0);
    for (let dimension = shape.length - 1; dimension >= 0; dimension--) {
      const extent = shape[dimension] ?? 1;
      indexes[dimension] = rest % extent;
      rest = Math.floor(rest / extent);
    }
    yield indexes;
  }
}

function elementwise(compute: (left: number, right: number) => number): Fold {
  return ({ inputs: [left, right], shape, option }) => {
    const activation = option("fusedActivationFunction") ?? "NONE";
    if (left === undefined || right === undefined || activation !== "NONE") return undefined;
    const fits = [left, right].every(({ shape: own }) => {
      const skipped = shape.length - own.length;
      return skipped >= 0 && own.every((extent, i) => extent === 1 || extent === shape[skipped + i]);
    });
    if (!fits) return undefined;
    return Array.from(indexesOf(shape), (indexes) =>
      compute(
        elementAt(left.values, broadcastPlace(left, indexes)),
        elementAt(right.values, broadcastPlace(right, indexes)),
      ),
    );
  };
}

/** The same elements in another shape. */
const same: Fold = ({ inputs: [input] }) => input?.values;

/** Joins tensors along an axis; of PACK's, each is a slice of it. */
function join({ inputs, shape }: ConstantOperator, axis: number, isNew: boolean): number[] | undefined {
  const place = axis < 0 ? axis + shape.length : axis;
  if (place < 0 || place >= shape.length) return undefined;
  const inner = sizeOf(shape.slice(place + 1));
  const outer = sizeOf(shape.slice(0, place));
  const extents = inputs.map(({ shape: own }) => (isNew ? 1 : (own[place] ?? 1)));
  return Array.from({ length: outer }, (_, row) =>
    inputs.flatMap(({ values }, i) => {
      const length = (extents[i] ?? 0) * inner;
      return values.slice(row * length, (row + 1) * length);
    }),
  ).flat();
}

function axisOf(value: OptionValue | undefined): number {
  return typeof value === "number" ? value : 0;
}

/** Rounds towards 0. */
function truncated(left: number, right: number): number {
  return Math.trunc(left / right);
}

/** The elements at the places begin, begin + step, …, of each dimension. */
function strided(
  { values, shape }: IntegerTensor,
  dimensions: readonly { readonly begin: number; readonly count: number; readonly step: number }[],
): readonly number[] {
  const counts = dimensions.map(({ count }) => count);
  if (sizeOf(counts) > MOST_FOLDED) return [];
  return Array.from(indexesOf(counts), (indexes) => {
    const place = shape.reduce((sum, extent, i) => {
      const { begin, step } = elementAt(dimensions, i);
      return sum * extent + begin + step * (indexes[i] ?? 0);
    }, 0);
    return elementAt(values, place);
  });
}

const slice: Fold = ({ inputs: [input, begin, size] }) => {
  if (input === undefined || begin === undefined || size === undefined) return undefined;
  const { shape } = input;
  if (begin.values.length !== shape.length || size.values.length !== shape.length) return undefined;
  const dimensions = shape.map((extent, i) => {
    const [first, length] = [elementAt(begin.values, i), elementAt(size.values, i)];
    return { begin: first, count: length === -1 ? extent - first : length, step: 1 };
  });
  const isInside = dimensions.every(
    ({ begin: first, count }, i) => first >= 0 && count >= 0 && first + count <= elementAt(shape, i),
  );
  return isInside ? strided(input, dimensions) : undefined;
};

const stridedSlice: Fold = ({ inputs: [input, begin, end, strides], option }) => {
  if (input === undefined || begin === undefined || end === undefined || strides === undefined) return undefined;
  const mask = (name: string) => axisOf(option(name));
  const dense = denseSlice(input.shape, {
    begin: begin.values,
    end: end.values,
    strides: strides.values,
    beginMask: mask("beginMask"),
    endMask: mask("endMask"),
    ellipsisMask: mask("ellipsisMask"),
    newAxisMask: mask("newAxisMask"),
    shrinkAxisMask: mask("shrinkAxisMask"),
    isOffset: option("offset") === true,
  });
  return "problem" in dense ? undefined : strided(input, dense.dimensions);
};

const gather: Fold = ({ inputs: [input, places], option }) => {
  if (input === undefined || places === undefined || axisOf(option("batchDims")) !== 0) return undefined;
  if (input.shape.length !== 1 || ![0, -1].includes(axisOf(option("axis")))) return undefined;
  const isInside = places.values.every((place) => place >= 0 && place < input.values.length);
  return isInside ? places.values.map((place) => elementAt(input.values, place)) : undefined;
};

/** All elements together; reductions of a part are left to the rows. */
function reduction(start: number, combine: (left: number, right: number) => number): Fold {
  return ({ inputs: [input], shape }) =>
    input === undefined || sizeOf(shape) !== 1 ? undefined : [input.values.reduce(combine, start)];
}

const range: Fold = ({ inputs: [start, limit, delta], shape }) => {
  const [first, , step] = [start?.values[0], limit?.values[0], delta?.values[0]];
  if (first === undefined || step === undefined || shape.length !== 1) return undefined;
  return Array.from({ length: shape[0] ?? 0 }, (_, i) => first + i * step);
};

const folds: Readonly<Record<string, Fold>> = {
  ADD: elementwise((left, right) => left + right),
  SUB: elementwise((left, right) => left - right),
  MUL: elementwise((left, right) => left * right),
  DIV: elementwise(truncated),
  FLOOR_DIV: elementwise((left, right) => Math.floor(left / right)),
  FLOOR_MOD: elementwise((left, right) => left - right * Math.floor(left / right)),
  MAXIMUM: elementwise(Math.max),
  MINIMUM: elementwise(Math.min),
  CAST: same,
  RESHAPE: same,
  SQUEEZE: same,
  EXPAND_DIMS: same,
  CONCATENATION: (operator) => join(operator, axisOf(operator.option("axis")), false),
  PACK: (operator) => join(operator, axisOf(operator.option("axis")), true),
  SLICE: slice,
  STRIDED_SLICE: stridedSlice,
  GATHER: gather,
  SUM: reduction(0, (left, right) => left + right),
  REDUCE_PROD: reduction(1, (left, right) => left * right),
  RANGE: range,
  FILL: ({ inputs: [extents, value], shape }) => {
    const filling = value?.values[0];
    // The stored shape may be that of another size.
    const isStored = extents?.values.join() === shape.join();
    return filling === undefined || !isStored ? undefined : new Array<number>(sizeOf(shape)).fill(filling);
  },
};

/** The result of an operator on constants; undefined if it is not computed, or does not fit in 32 bits or in the stated shape. */
export function foldedValues(operator: ConstantOperator): readonly number[] | undefined {
  const size = sizeOf(operator.shape);
  if (size > MOST_FOLDED) return undefined;
  const values = folds[operator.name]?.(operator);
  const isWhole = values?.length === size && values.every((value) => value === (value | 0));
  return isWhole ? values : undefined;
}
