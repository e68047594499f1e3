/**
 * The operators of .tflite that the HAL lacks, as operations of the extension `nnhal.tflite`. This backend knows them by name; their
 * definitions come from the application (`OrtBackendOptions.extensions`). The operands are those of the definitions: an operation with
 * the name of one of the HAL has its operands too.
 *
 * A complex number is a pair of floats along an axis of its own, which follows the others.
 */
import type { KernelTensor } from "@nnhal/backend";
import {
  type AnyArgs,
  elementAt,
  elementCount,
  extentProduct,
  isExtensionType,
  isFloat,
  resolveAxis,
  type TensorInfo,
} from "@nnhal/operations";
import { addWholeNumber, type Builder, cast, integers, reshape, type Value } from "../graph/builder.ts";
import { type Lowered, refuse, resultOf, type Scope, valueType } from "../graph/scope.ts";
import { broadcastDims, isReal, type Lowering, numbersOf, onReals, typeName } from "./_lowering.ts";
import type { Pair } from "./elementwise.ts";
import * as elementwise from "./elementwise.ts";
import { lowerBatchMatmul } from "./matrices.ts";
import * as movement from "./movement.ts";
import * as padding from "./padding.ts";

/** The name of the extension. */
export const tfliteExtensionName = "nnhal.tflite";

interface One {
  readonly output: TensorInfo;
}

interface Many {
  readonly outputs: readonly TensorInfo[];
}

interface Unary {
  readonly input: KernelTensor;
}

/** Returns whether the elements of a tensor are 64-bit integers. */
function isLong({ type }: TensorInfo): boolean {
  return isExtensionType(type) && valueType(type) === "int64";
}

/** Refuses tensors with different quantisations, whose elements cannot be moved as they are. */
function ensureSameScale(tensors: readonly TensorInfo[]): void {
  const [first, ...others] = tensors;
  for (const { scale, zeroPoint } of others) {
    if (scale !== first?.scale || zeroPoint !== first.zeroPoint) refuse("different quantisations are not available");
  }
}

/** The number in a tensor of one element, or the number. */
function numberIn(name: string, value: KernelTensor | number): number {
  return typeof value === "number" ? value : elementAt(numbersOf(name, value), 0);
}

/** A computation on the elements of tensors that broadcast. */
function onElements({ builder, read }: Scope, operator: string, tensors: readonly KernelTensor[]): Value {
  const values = tensors.map(read);
  return builder.node(operator, values, { type: elementAt(values, 0).type, dims: broadcastDims(values) });
}

/** The HAL's lowering, and an operator of 64-bit integers. */
function alsoLong<Args extends Pair>(
  operator: string,
  others: (args: Args, outputs: One, scope: Scope) => Lowered,
  isAvailable: (output: TensorInfo) => boolean = () => true,
) {
  return (args: Args & { readonly activation?: number }, outputs: One, scope: Scope): Lowered => {
    const { left, right, activation = 0 } = args;
    const { output } = outputs;
    if (isLong(output)) {
      if (activation !== 0) refuse(`activation ${activation} is not available for ${typeName(output)}`);
      return onElements(scope, operator, [left, right]);
    }
    if (!isAvailable(output)) refuse(`${typeName(output)} is not available`);
    return others(args, outputs, scope);
  };
}

/** Other quantised types have no rule for their scales. */
function isWide({ type }: TensorInfo): boolean {
  return isFloat(type) || type === "TENSOR_INT32" || type === "TENSOR_QUANT16_SYMM";
}

/** Comparisons of other types than those of the HAL count in steps of their own. */
function ofLongs(compare: (args: Pair, outputs: One, scope: Scope) => Lowered) {
  return (args: Pair, outputs: One, scope: Scope): Lowered =>
    isLong(args.left) ? compare(args, outputs, scope) : refuse(`${typeName(args.left)} is not available`);
}

/** An operator of real numbers. */
function ofReals(operator: string, attributesOf: (args: AnyArgs) => Parameters<Builder["node"]>[3] = () => ({})) {
  return (args: AnyArgs & Unary, { output }: One, scope: Scope): Lowered =>
    onReals(scope, [args.input], output, (values, dims) =>
      scope.builder.node(operator, values, { type: "float32", dims }, attributesOf(args)),
    );
}

/** An operator of floats alone. */
function ofFloats(operator: string) {
  const lowering = ofReals(operator);
  return (args: AnyArgs & Unary, outputs: One, scope: Scope): Lowered =>
    isFloat(args.input.type) ? lowering(args, outputs, scope) : refuse(`${typeName(args.input)} is not available`);
}

function argExtreme(operator: string) {
  return (
    { input, axis }: Unary & { readonly axis: KernelTensor | number },
    { output }: One,
    { builder, read }: Scope,
  ): Lowered => {
    const along = resolveAxis(numberIn("the axis", axis), input.dimensions.length);
    const value = read(input);
    const numbers = value.type === "bool" ? cast(builder, value, "uint8") : value;
    const attributes = { axis: { int: along }, keepdims: { int: 1 } };
    const dims = value.dims.map((extent, at) => (at === along ? 1 : extent));
    const places = builder.node(operator, [numbers], { type: "int64", dims }, { attributes });
    const type = valueType(output.type);
    return reshape(builder, type === "int64" ? places : cast(builder, places, type), output.dimensions);
  };
}

function cast64({ input }: Unary, { output }: One, { builder, read }: Scope): Lowered {
  const types = [input, output].map(({ type }) => valueType(type));
  const isAvailable = types.every((type) => type === "int64" || type === "int32" || type === "bool");
  const toFloat = types[1] === "float32" && types[0] !== "float32" && !isReal(input);
  if (!isAvailable && !toFloat) refuse(`${typeName(input)} to ${typeName(output)} is not available`);
  const value = read(input);
  const type = valueType(output.type);
  return value.type === type ? value : cast(builder, value, type);
}

/** The shape of the output is known from shape inference. */
function lowerReshape({ input }: Unary, { output }: One, { builder, read }: Scope): Lowered {
  return reshape(builder, read(input), resultOf(output.type, output.dimensions).dims);
}

function concatenation(args: Parameters<typeof movement.concatenation>[0], outputs: One, scope: Scope): Lowered {
  if (valueType(outputs.output.type) !== "uint8") ensureSameScale([...args.inputs, outputs.output]);
  return movement.concatenation(args, outputs, scope);
}

function gather(
  args: Parameters<typeof movement.gather>[0] & { readonly batchDims?: number },
  outputs: One,
  scope: Scope,
): Lowered {
  if (args.batchDims) refuse(`batchDims ${args.batchDims} is not available; only 0 is`);
  return reshape(scope.builder, asValue(movement.gather(args, outputs, scope)), outputs.output.dimensions);
}

function asValue(lowered: Lowered): Value {
  return "image" in lowered ? lowered.image : lowered;
}

type Masks = { readonly [Name in "ellipsisMask" | "newAxisMask"]?: number } & { readonly offset?: boolean };

function stridedSlice(args: Parameters<typeof movement.stridedSlice>[0] & Masks, outputs: One, scope: Scope): Lowered {
  const { ellipsisMask, newAxisMask, offset } = args;
  if (ellipsisMask || newAxisMask || offset) refuse("an ellipsis, a new axis or an offset is not available");
  const { dimensions } = args.begin;
  const { length } = args.input.dimensions;
  if (elementCount(dimensions) !== length) refuse(`${elementCount(dimensions)} of ${length} axes are not available`);
  return movement.stridedSlice(args, outputs, scope);
}

/** Cuts a tensor along an axis into the extents of its outputs. */
function cutIntoParts(
  { input, axis }: Unary & { readonly axis: KernelTensor | number },
  { outputs }: Many,
  { builder, read }: Scope,
): Lowered[] {
  const place = resolveAxis(numberIn("the axis", axis), input.dimensions.length);
  const value = read(input);
  const inner = extentProduct(input.dimensions, 0, place) * extentProduct(input.dimensions, place + 1);
  const extents = outputs.map(({ dimensions }) => elementCount(dimensions) / inner);
  const results = extents.map((extent) => ({ type: value.type, dims: input.dimensions.with(place, extent) }));
  const attributes = { axis: { int: place } };
  const parts = builder.nodes("Split", [value, integers(builder, extents)], results, { attributes });
  return parts.map((part, index) => reshape(builder, part, elementAt(outputs, index).dimensions));
}

/** The engine chooses among no 16-bit integers and no booleans. */
function selectV2(args: Parameters<typeof elementwise.select>[0], outputs: One, scope: Scope): Lowered {
  const { builder, read } = scope;
  const type = valueType(outputs.output.type);
  if (type === "uint32") refuse(`${typeName(outputs.output)} is not available`);
  if (type !== "int16" && type !== "bool") return elementwise.select(args, outputs, scope);
  const { condition, whenTrue, whenFalse } = args;
  ensureSameScale([whenTrue, whenFalse, outputs.output]);
  const numbers = [whenTrue, whenFalse].map((each) => cast(builder, read(each), "int32"));
  const result = { type: "int32", dims: outputs.output.dimensions } as const;
  return cast(builder, builder.node("Where", [read(condition), ...numbers], result), type);
}

function broadcastTo({ input }: Unary, { output }: One, { builder, read }: Scope): Lowered {
  const value = read(input);
  if (value.elements !== undefined) refuse("a constant input is not available");
  return builder.node("Expand", [value, integers(builder, output.dimensions)], {
    type: value.type,
    dims: output.dimensions,
  });
}

function reverseV2(
  { tensor, axis }: { readonly tensor: KernelTensor; readonly axis: KernelTensor },
  outputs: One,
  scope: Scope,
): Lowered {
  return movement.reverse({ input: tensor, axis }, outputs, scope);
}

function shape({ input }: Unary, { output }: One, { builder }: Scope): Lowered {
  const { dimensions } = input;
  const type = valueType(output.type);
  const elements = () => (type === "int64" ? BigInt64Array.from(dimensions, BigInt) : Int32Array.from(dimensions));
  return builder.constant(type, [dimensions.length], elements);
}

function squaredDifference({ left, right }: Pair, { output }: One, scope: Scope): Lowered {
  if (!isFloat(output.type) && output.type !== "TENSOR_INT32") refuse(`${typeName(output)} is not available`);
  const difference = onElements(scope, "Sub", [left, right]);
  return scope.builder.node("Mul", [difference, difference], difference);
}

function square({ input }: Unary, { output }: One, scope: Scope): Lowered {
  return onReals(scope, [input], output, ([value], dims) =>
    scope.builder.node("Mul", [value, value], { type: "float32", dims }),
  );
}

/** Rows and columns are cut or filled with zeros to the lengths; of the columns of the spectrum there is the first half. */
function rfft2d(
  { input, fftLength }: Unary & { readonly fftLength: KernelTensor },
  { output }: One,
  { builder, read }: Scope,
): Lowered {
  const lengths = numbersOf("fftLength", fftLength);
  const outer = input.dimensions.slice(0, -2);
  const extents = input.dimensions.slice(-2);
  let value = read(input);
  const dims = [...outer, ...lengths];
  if (extents.some((extent, place) => extent !== lengths[place])) {
    // A negative number of elements to add takes them away.
    const added = extents.map((extent, place) => elementAt(lengths, place) - extent);
    const none = dims.map(() => 0);
    const pads = integers(builder, [...none, ...outer.map(() => 0), ...added]);
    value = builder.node("Pad", [value, pads], { type: "float32", dims });
  }
  const [height = 1, width = 1] = lengths;
  const bins = Math.floor(width / 2) + 1;
  const matrices = elementCount(outer);
  const signals = reshape(builder, value, [matrices, height, width, 1]);
  const spectra = { type: "float32", dims: [matrices, height, bins, 2] } as const;
  const along = (axis: number) => builder.constant("int64", [], () => BigInt64Array.of(BigInt(axis)));
  const attributes = { onesided: { int: 1 } };
  const rows = builder.node("DFT", [signals, undefined, along(2)], spectra, { attributes });
  const both = height === 1 ? rows : builder.node("DFT", [rows, undefined, along(1)], spectra);
  return reshape(builder, both, resultOf(output.type, output.dimensions).dims);
}

function complexAbs({ input }: Unary, { output }: One, { builder, read }: Scope): Lowered {
  const value = read(input);
  const attributes = { keepdims: { int: 0 } };
  const axes = integers(builder, [value.dims.length - 1]);
  return builder.node("ReduceL2", [value, axes], { type: "float32", dims: output.dimensions }, { attributes });
}

function partOfComplex(place: number) {
  return ({ input }: Unary, { output }: One, { builder, read }: Scope): Lowered => {
    const value = read(input);
    const index = addWholeNumber(builder, "int64", place);
    const attributes = { axis: { int: value.dims.length - 1 } };
    return builder.node("Gather", [value, index], { type: "float32", dims: output.dimensions }, { attributes });
  };
}

/** By the names of the operations. Each takes the arguments and the outputs of the definition of its name. */
export const tfliteLowerings = {
  ADD: alsoLong("Add", elementwise.add, isWide),
  ARGMAX: argExtreme("ArgMax"),
  ARGMIN: argExtreme("ArgMin"),
  BATCH_MATMUL: lowerBatchMatmul,
  BROADCAST_TO: broadcastTo,
  CAST: cast64,
  CEIL: ofFloats("Ceil"),
  COMPLEX_ABS: complexAbs,
  CONCATENATION: concatenation,
  COS: ofFloats("Cos"),
  EQUAL: ofLongs(elementwise.equal),
  EXPAND_DIMS: lowerReshape,
  GATHER: gather,
  GELU: ofReals("Gelu", ({ approximate }) => ({
    attributes: { approximate: { text: approximate === true ? "tanh" : "none" } },
  })),
  GREATER: ofLongs(elementwise.greater),
  GREATER_EQUAL: ofLongs(elementwise.greaterEqual),
  IMAG: partOfComplex(1),
  LEAKY_RELU: ofReals("LeakyRelu", ({ alpha }) => ({ attributes: { alpha: { real: Number(alpha) } } })),
  LESS: ofLongs(elementwise.less),
  LESS_EQUAL: ofLongs(elementwise.lessEqual),
  MAXIMUM: alsoLong("Max", () => refuse("elements as they are stored are not available")),
  MINIMUM: alsoLong("Min", () => refuse("elements as they are stored are not available")),
  MUL: alsoLong("Mul", elementwise.mul, ({ type }) => isFloat(type) || type === "TENSOR_INT32"),
  NOT_EQUAL: ofLongs(elementwise.notEqual),
  PACK: movement.pack,
  PAD: padding.pad,
  REAL: partOfComplex(0),
  RESHAPE: lowerReshape,
  REVERSE_V2: reverseV2,
  RFFT2D: rfft2d,
  ROUND: ofFloats("Round"),
  SELECT_V2: selectV2,
  SHAPE: shape,
  SIGN: ofFloats("Sign"),
  SLICE: movement.slice,
  SPLIT: cutIntoParts,
  SPLIT_V: cutIntoParts,
  SQUARE: square,
  SQUARED_DIFFERENCE: squaredDifference,
  SQUEEZE: lowerReshape,
  STRIDED_SLICE: stridedSlice,
  SUB: alsoLong("Sub", elementwise.sub, isWide),
  TILE: movement.tile,
  TRANSPOSE: movement.lowerTranspose,
  UNPACK: cutIntoParts,
} satisfies Readonly<Record<string, Lowering<never, never>>>;
