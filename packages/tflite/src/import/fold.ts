/**
 * Operators on integer constants, such as those that work out shapes and paddings: the import computes them, and their results are
 * constants.
 */
import { elementAt } from "@nnhal/operations";
import type { TensorTypeName } from "../schema/codes.ts";
import type { OptionValue } from "../schema/options.ts";
import { bytesOfIntegers, bytesOfWide, integersOf } from "./bytes.ts";
import { denseSlice } from "./dense-slice.ts";
import { tensorOf } from "./graph.ts";
import { type IntegerTensor, MOST_FOLDED } from "./integer-tensor.ts";
import type { Lowering } from "./lowering.ts";

/** An operator whose inputs are all constants. */
interface ConstantOperator {
  readonly name: string;
  readonly inputs: readonly IntegerTensor[];
  option(name: string): OptionValue | undefined;
}

/** The result; undefined if the operator cannot be computed. */
type Fold = (operator: ConstantOperator) => IntegerTensor | undefined;

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
  return ({ inputs: [left, right], option }) => {
    const activation = option("fusedActivationFunction") ?? "NONE";
    if (left === undefined || right === undefined || activation !== "NONE") return undefined;
    const rank = Math.max(left.shape.length, right.shape.length);
    const shape = Array.from({ length: rank }, (_, i) =>
      Math.max(...[left.shape, right.shape].map((own) => own[i + own.length - rank] ?? 1)),
    );
    const fits = [left, right].every(({ shape: own }) =>
      own.every((extent, i) => extent === 1 || extent === shape[rank - own.length + i]),
    );
    if (!fits || sizeOf(shape) > MOST_FOLDED) return undefined;
    const values = Array.from(indexesOf(shape), (indexes) =>
      compute(
        elementAt(left.values, broadcastPlace(left, indexes)),
        elementAt(right.values, broadcastPlace(right, indexes)),
      ),
    );
    return { values, shape };
  };
}

/** The same elements in another shape; undefined if they do not fill it. */
function reshapeIntegers({ values }: IntegerTensor, shape: readonly number[] | undefined): IntegerTensor | undefined {
  return shape !== undefined && sizeOf(shape) === values.length ? { values, shape } : undefined;
}

const reshape: Fold = ({ inputs: [input, target], option }) => {
  const listed = target?.values ?? listOf(option("newShape"));
  if (input === undefined) return undefined;
  // In old files one dimension of 0 means a scalar.
  const given = listed.length === 1 && listed[0] === 0 ? [] : listed;
  const known = sizeOf(given.filter((extent) => extent !== -1));
  return reshapeIntegers(
    input,
    given.map((extent) => (extent === -1 ? input.values.length / known : extent)),
  );
};

const squeeze: Fold = ({ inputs: [input], option }) => {
  const listed = listOf(option("squeezeDims"));
  const rank = input?.shape.length ?? 0;
  const places = listed.map((place) => (place < 0 ? place + rank : place));
  const isRemoved = (extent: number, place: number) => (places.length === 0 ? extent === 1 : places.includes(place));
  return (
    input &&
    reshapeIntegers(
      input,
      input.shape.filter((extent, place) => !isRemoved(extent, place)),
    )
  );
};

const expandDims: Fold = ({ inputs: [input, axis] }) => {
  const place = axis?.values[0];
  if (input === undefined || place === undefined) return undefined;
  const rank = input.shape.length + 1;
  const from = place < 0 ? place + rank : place;
  return from >= 0 && from < rank ? reshapeIntegers(input, input.shape.toSpliced(from, 0, 1)) : undefined;
};

/** Joins tensors along an axis. */
function join(inputs: readonly IntegerTensor[], axis: number): IntegerTensor | undefined {
  const [first] = inputs;
  const rank = first?.shape.length ?? 0;
  const place = axis < 0 ? axis + rank : axis;
  if (first === undefined || place < 0 || place >= rank) return undefined;
  const rest = ({ shape }: IntegerTensor) => shape.toSpliced(place, 1, -1).join();
  if (inputs.some((input) => rest(input) !== rest(first))) return undefined;
  const inner = sizeOf(first.shape.slice(place + 1));
  const outer = sizeOf(first.shape.slice(0, place));
  const extents = inputs.map(({ shape }) => elementAt(shape, place));
  const values = Array.from({ length: outer }, (_, row) =>
    inputs.flatMap((input, i) => {
      const length = elementAt(extents, i) * inner;
      return input.values.slice(row * length, (row + 1) * length);
    }),
  ).flat();
  return {
    values,
    shape: first.shape.with(
      place,
      extents.reduce((sum, extent) => sum + extent, 0),
    ),
  };
}

/** Joins tensors along an axis that each of them is a slice of. */
function pack(inputs: readonly IntegerTensor[], axis: number): IntegerTensor | undefined {
  const rank = (inputs[0]?.shape.length ?? 0) + 1;
  const place = axis < 0 ? axis + rank : axis;
  if (place < 0 || place >= rank) return undefined;
  return join(
    inputs.map(({ values, shape }) => ({ values, shape: shape.toSpliced(place, 0, 1) })),
    place,
  );
}

function listOf(value: OptionValue | undefined): readonly number[] {
  return typeof value === "object" ? value : [];
}

function axisOf(value: OptionValue | undefined): number {
  return typeof value === "number" ? value : 0;
}

/** Rounds towards 0. */
function truncate(left: number, right: number): number {
  return Math.trunc(left / right);
}

/** The elements at the places begin, begin + step, …, of each dimension. */
function stride(
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
  return isInside ? { values: stride(input, dimensions), shape: dimensions.map(({ count }) => count) } : undefined;
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
  return "problem" in dense ? undefined : { values: stride(input, dense.dimensions), shape: dense.shape };
};

const gather: Fold = ({ inputs: [input, places], option }) => {
  if (input === undefined || places === undefined || axisOf(option("batchDims")) !== 0) return undefined;
  if (input.shape.length !== 1 || ![0, -1].includes(axisOf(option("axis")))) return undefined;
  const isInside = places.values.every((place) => place >= 0 && place < input.values.length);
  if (!isInside) return undefined;
  return { values: places.values.map((place) => elementAt(input.values, place)), shape: places.shape };
};

/** All elements together; reductions of a part are left to the rows. */
function reduction(start: number, combine: (left: number, right: number) => number): Fold {
  return ({ inputs: [input, axes], option }) => {
    if (input === undefined || axes === undefined) return undefined;
    const rank = input.shape.length;
    const reduced = new Set(axes.values.map((axis) => (axis < 0 ? axis + rank : axis)));
    if (input.shape.some((extent, axis) => extent !== 1 && !reduced.has(axis))) return undefined;
    const kept = option("keepDims") === true ? input.shape : input.shape.filter((_, axis) => !reduced.has(axis));
    return { values: [input.values.reduce(combine, start)], shape: kept.map(() => 1) };
  };
}

const range: Fold = ({ inputs: [start, limit, delta] }) => {
  const [first, end, step] = [start?.values[0], limit?.values[0], delta?.values[0]];
  if (first === undefined || end === undefined || step === undefined || step === 0) return undefined;
  const length = Math.max(0, Math.ceil((end - first) / step));
  if (length > MOST_FOLDED) return undefined;
  return { values: Array.from({ length }, (_, i) => first + i * step), shape: [length] };
};

const folds: Readonly<Record<string, Fold>> = {
  ADD: elementwise((left, right) => left + right),
  SUB: elementwise((left, right) => left - right),
  MUL: elementwise((left, right) => left * right),
  DIV: elementwise(truncate),
  FLOOR_DIV: elementwise((left, right) => Math.floor(left / right)),
  FLOOR_MOD: elementwise((left, right) => left - right * Math.floor(left / right)),
  MAXIMUM: elementwise(Math.max),
  MINIMUM: elementwise(Math.min),
  CAST: ({ inputs: [input] }) => input,
  RESHAPE: reshape,
  SQUEEZE: squeeze,
  EXPAND_DIMS: expandDims,
  CONCATENATION: ({ inputs, option }) => join(inputs, axisOf(option("axis"))),
  PACK: ({ inputs, option }) => pack(inputs, axisOf(option("axis"))),
  SLICE: slice,
  STRIDED_SLICE: stridedSlice,
  GATHER: gather,
  SUM: reduction(0, (left, right) => left + right),
  REDUCE_PROD: reduction(1, (left, right) => left * right),
  RANGE: range,
  FILL: ({ inputs: [extents, value] }) => {
    const filling = value?.values[0];
    const shape = extents?.values;
    if (filling === undefined || shape === undefined || sizeOf(shape) > MOST_FOLDED) return undefined;
    const isShape = shape.every((extent) => extent > 0);
    return isShape ? { values: new Array<number>(sizeOf(shape)).fill(filling), shape } : undefined;
  },
};

/**
 * The result of an operator on constants, whatever shape the file stores for it; undefined if it is not computed, has no elements, or
 * does not fit in 32 bits.
 */
function foldedValues(operator: ConstantOperator): IntegerTensor | undefined {
  const result = folds[operator.name]?.(operator);
  if (result === undefined || result.values.length > MOST_FOLDED) return undefined;
  const isWhole = result.values.length > 0 && result.values.every((value) => value === (value | 0));
  return isWhole && sizeOf(result.shape) === result.values.length ? result : undefined;
}

/** Makes the result of an operator on small integer constants a constant; false if it is not such an operator. */
export function foldOperator(op: Lowering): boolean {
  const { name, inputs, outputs } = op.operator;
  if (inputs.length === 0 || outputs.length !== 1) return false;
  const output = op.outputIndex(0);
  const { type } = tensorOf(op.graph, output);
  if (!isInteger(type)) return false;
  const constants: IntegerTensor[] = [];
  for (const [place, tensor] of inputs.entries()) {
    if (tensor < 0) return false;
    const input = op.inputTensor(place);
    const bytes = isInteger(input.type) && !input.quantization ? op.graph.constantBytes(tensor) : undefined;
    if (bytes === undefined || bytes.length > 8 * MOST_FOLDED) return false;
    constants.push({ values: integersOf(input.type, bytes, op.graph.placeOf(tensor)), shape: input.shape });
  }
  const folded = foldedValues({ name, inputs: constants, option: op.option });
  if (folded === undefined) return false;
  const { values, shape } = folded;
  op.graph.fold(output, type === "INT64" ? bytesOfWide(values) : bytesOfIntegers(values), shape);
  return true;
}

function isInteger(type: TensorTypeName): boolean {
  return type === "INT32" || type === "INT64";
}
