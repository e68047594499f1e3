/** Reductions along axes, and the places of extremes. */
import type { KernelTensor } from "@nnhal/backend";
import { elementAt, isFloat, resolveAxis, type TensorInfo } from "@nnhal/operations";
import { addWholeNumber, cast, integers, reshape, type Value } from "../graph/builder.ts";
import { type Lowered, refuse, type Scope, zeroPointOf } from "../graph/scope.ts";
import { dequantise, isQuant8, isReal, numbersOf, quantise, roundedAway, typeName } from "./_lowering.ts";

interface Reduction {
  readonly input: KernelTensor;
  readonly axes: KernelTensor;
}

interface One {
  readonly output: TensorInfo;
}

/** The axes of a reduction, each once. */
function axesOf({ input, axes }: Reduction): number[] {
  const rank = input.dimensions.length;
  return [...new Set(numbersOf("the axes", axes).map((axis) => resolveAxis(axis, rank)))].sort((a, b) => a - b);
}

/** The shape of the result is known from shape inference: [1] if no axis is left. */
function lowerReduction(
  scope: Scope,
  operator: string,
  value: Value,
  axes: readonly number[],
  dims: readonly number[],
): Value {
  const { builder } = scope;
  if (axes.length === 0) return value;
  const kept = value.dims.map((extent, axis) => (axes.includes(axis) ? 1 : extent));
  const result = { type: value.type, dims: kept };
  const attributes = { keepdims: { int: 1 } };
  return reshape(builder, builder.node(operator, [value, integers(builder, axes)], result, { attributes }), dims);
}

function ofReals(operator: string) {
  return (args: Reduction, { output }: One, scope: Scope): Lowered => {
    const { input } = args;
    if (!isReal(input)) refuse(`${typeName(input)} is not available`);
    const value = dequantise(scope, scope.read(input), input);
    return quantise(scope, lowerReduction(scope, operator, value, axesOf(args), output.dimensions), output);
  };
}

/** The mean of the pixels of an image is an operator of its own, which needs no other order of the image. */
export function mean(args: Reduction, { output }: One, scope: Scope): Lowered {
  const { builder } = scope;
  const { input } = args;
  const axes = axesOf(args);
  if (isFloat(input.type)) {
    if (input.dimensions.length !== 4 || axes.join() !== "1,2") return meanOfReals(args, { output }, scope);
    const [batches = 0, , , channels = 0] = input.dimensions;
    const dims = [batches, channels, 1, 1];
    const means = builder.node("GlobalAveragePool", [scope.image(input, false)], { type: "float32", dims });
    return reshape(builder, means, output.dimensions);
  }
  if (!isQuant8(input)) return refuse(`${typeName(input)} is not available`);
  // Of the stored numbers, because the quantisation does not change; the integer operator rounds halves to even.
  const numbers = cast(builder, scope.read(input), "float32");
  const means = lowerReduction(scope, "ReduceMean", numbers, axes, output.dimensions);
  return cast(builder, roundedAway(builder, means, zeroPointOf(input)), "uint8");
}

const meanOfReals = ofReals("ReduceMean");

export const reduceSum = ofReals("ReduceSum");
export const reduceProd = ofReals("ReduceProd");

/** Quantised numbers have the order of the real numbers, and the quantisation does not change. */
function ofOrdered(operator: string) {
  return (args: Reduction, { output }: One, scope: Scope): Lowered =>
    lowerReduction(scope, operator, scope.read(args.input), axesOf(args), output.dimensions);
}

export const reduceMax = ofOrdered("ReduceMax");
export const reduceMin = ofOrdered("ReduceMin");

function ofBooleans(operator: string) {
  return (args: Reduction, { output }: One, scope: Scope): Lowered => {
    const { builder } = scope;
    const value = scope.read(args.input);
    const numbers = cast(builder, value, "int32");
    return cast(builder, lowerReduction(scope, operator, numbers, axesOf(args), output.dimensions), "bool");
  };
}

export const reduceAll = ofBooleans("ReduceMin");
export const reduceAny = ofBooleans("ReduceMax");

function placeOf(operator: string) {
  return (
    { input, axis }: { readonly input: KernelTensor; readonly axis: number },
    { output }: One,
    scope: Scope,
  ): Lowered => {
    const { builder } = scope;
    const along = resolveAxis(axis, input.dimensions.length);
    const value = scope.read(input);
    const kept = value.dims.map((extent, at) => (at === along ? 1 : extent));
    const attributes = { axis: { int: along }, keepdims: { int: 1 } };
    const places = builder.node(operator, [value], { type: "int64", dims: kept }, { attributes });
    return reshape(builder, cast(builder, places, "int32"), output.dimensions);
  };
}

export const argmax = placeOf("ArgMax");
export const argmin = placeOf("ArgMin");

interface TopkOutputs {
  readonly values: TensorInfo;
  readonly indices: TensorInfo;
}

export function topkV2(
  { input, k }: { readonly input: KernelTensor; readonly k: number },
  outputs: TopkOutputs,
  scope: Scope,
): Lowered[] {
  const { builder } = scope;
  const value = scope.read(input);
  const dims = outputs.values.dimensions;
  const isSmall = value.type === "uint8";
  const numbers = isSmall ? cast(builder, value, "int32") : value;
  // Of equal elements the operator takes the first and the HAL the last.
  const last = input.dimensions.length - 1;
  const bounds = [-1, -(2 ** 40), last, -1].map((bound) => integers(builder, [bound]));
  const reversed = builder.node("Slice", [numbers, ...bounds], numbers);
  const results = [
    { type: numbers.type, dims },
    { type: "int64", dims },
  ] as const;
  const [values, places] = builder.nodes("TopK", [reversed, integers(builder, [k])], results);
  if (values === undefined || places === undefined) return refuse("the operator has two results");
  const greatest = addWholeNumber(builder, "int32", elementAt(input.dimensions, last) - 1);
  const integer = cast(builder, places, "int32");
  const indices = builder.node("Sub", [greatest, integer], integer);
  return [isSmall ? cast(builder, values, "uint8") : values, indices];
}
