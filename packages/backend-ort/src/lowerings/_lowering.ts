/**
 * Shared parts of lowerings: the type of their table, activations, and the conversion of quantised values to real
 * numbers and back.
 */
import type { KernelTensor } from "@nnhal/backend";
import {
  activationRange,
  isFloat,
  type OperationArgs,
  type OperationName,
  type OperationOutputs,
  quantisedActivationRange,
  type TensorInfo,
} from "@nnhal/operations";
import {
  addWholeNumber,
  type Builder,
  cast,
  real as realConstant,
  reshape,
  transpose,
  type Value,
} from "../graph/builder.ts";
import { isShifted, type Lowered, refuse, type Scope, valueType, zeroPointOf } from "../graph/scope.ts";

/**
 * Adds an operation to the graph, and returns its outputs in the order of the operand list. Throws a Refusal if ONNX cannot express it,
 * and an OperationError if the operation is not valid.
 */
export type Lowering<Args, Outputs> = (args: Args, outputs: Outputs, scope: Scope) => Lowered | readonly Lowered[];

/** Lowerings by the names of their operations. */
export type LoweringTable = {
  readonly [Name in OperationName]?: Lowering<OperationArgs<Name, KernelTensor>, OperationOutputs<Name>>;
};

/** Returns whether a tensor has 8-bit elements with one scale and one zero point. */
export function isQuant8({ type }: TensorInfo): boolean {
  return type === "TENSOR_QUANT8_ASYMM" || type === "TENSOR_QUANT8_ASYMM_SIGNED";
}

/** Returns whether the elements of a tensor represent real numbers: floats, and quantised types. */
export function isReal({ type, scale, channelQuant }: TensorInfo): boolean {
  return (
    isFloat(type) || (typeof type === "string" && type.includes("QUANT") && (scale > 0 || channelQuant !== undefined))
  );
}

/** The constant scale of a quantised value. */
export function scaleConstant(builder: Builder, { scale }: TensorInfo): Value {
  return realConstant(builder, scale);
}

/** The constant zero point of a quantised value. */
export function zeroPointConstant(builder: Builder, info: TensorInfo): Value {
  return addWholeNumber(builder, valueType(info.type), zeroPointOf(info));
}

/** The real numbers of a value. */
export function dequantise({ builder }: Scope, value: Value, info: TensorInfo): Value {
  if (isFloat(info.type)) return value;
  const { channelQuant } = info;
  const result = { type: "float32", dims: value.dims } as const;
  if (channelQuant === undefined) {
    return builder.node(
      "DequantizeLinear",
      [value, scaleConstant(builder, info), zeroPointConstant(builder, info)],
      result,
    );
  }
  const { scales, channelDim } = channelQuant;
  const dims = value.dims.map((_, axis) => (axis === channelDim ? scales.length : 1));
  return multiplyScales(builder, value, scales, dims);
}

/** The whole numbers of a value of 8 bits less their zero point, as float32. */
export function subtractZeroPoint(builder: Builder, value: Value, info: TensorInfo): Value {
  const numbers = cast(builder, value, "float32");
  const zeroPoint = info.channelQuant === undefined ? zeroPointOf(info) : 0;
  return zeroPoint === 0 ? numbers : builder.node("Sub", [numbers, realConstant(builder, zeroPoint)], numbers);
}

/** Whole numbers multiplied by scales, which broadcast. */
export function multiplyScales(
  builder: Builder,
  value: Value,
  scales: readonly number[],
  dims: readonly number[],
): Value {
  const scale = builder.constant("float32", dims, () => Float32Array.from(scales));
  const numbers = cast(builder, value, "float32");
  return builder.node("Mul", [numbers, scale], numbers);
}

/** The value of a tensor that represents real numbers. */
export function quantise({ builder }: Scope, value: Value, info: TensorInfo): Value {
  if (isFloat(info.type)) return value;
  const scale = scaleConstant(builder, info);
  const result = { type: valueType(info.type), dims: value.dims };
  return builder.node("QuantizeLinear", [value, scale, zeroPointConstant(builder, info)], result);
}

/** The real numbers of a tensor in the order of the HAL. */
export function readReal(scope: Scope, tensor: KernelTensor): Value {
  return dequantise(scope, scope.read(tensor), tensor);
}

/** Whole numbers nearest to real ones; halves away from `centre`, which is the least number if it is 0. */
export function roundedAway(builder: Builder, value: Value, centre: number): Value {
  const half = realConstant(builder, 0.5);
  if (centre === 0) return builder.node("Floor", [builder.node("Add", [value, half], value)], value);
  const middle = realConstant(builder, centre);
  const distance = builder.node("Sub", [value, middle], value);
  const size = builder.node("Add", [builder.node("Abs", [distance], value), half], value);
  const sign = builder.node("Sign", [distance], value);
  const whole = builder.node("Mul", [builder.node("Floor", [size], value), sign], value);
  return builder.node("Add", [whole, middle], value);
}

/** The result of an activation on real numbers. */
export function applyActivation(builder: Builder, value: Value, activation: number): Value {
  const [least, greatest] = activationRange(activation);
  if (least === Number.NEGATIVE_INFINITY) return value;
  if (greatest === Number.POSITIVE_INFINITY) return builder.node("Relu", [value], value);
  return builder.node("Clip", [value, realConstant(builder, least), realConstant(builder, greatest)], value);
}

/** The result of an activation on a quantised value of 8 bits. */
export function activatedQuant8(builder: Builder, value: Value, activation: number, info: TensorInfo): Value {
  const shift = isShifted(info.type) ? 128 : 0;
  const [least, greatest] = quantisedActivationRange(activation, info).map((bound) => bound + shift);
  if (least === undefined || greatest === undefined || (least <= 0 && greatest >= 255)) return value;
  return builder.node(
    "Clip",
    [value, addWholeNumber(builder, "uint8", least), addWholeNumber(builder, "uint8", greatest)],
    value,
  );
}

/**
 * The values of tensors for an elementwise operation, all in one order: NCHW if one of them is held so only. Tensors of a lower rank
 * broadcast.
 */
export function align(
  scope: Scope,
  tensors: readonly KernelTensor[],
  rank: number,
): { readonly values: readonly Value[]; readonly lower: (value: Value) => Lowered } {
  const isImage = rank === 4 && tensors.some(scope.isImage);
  if (!isImage) return { values: tensors.map(scope.read), lower: (value) => value };
  const { builder } = scope;
  const values = tensors.map((tensor) => {
    if (tensor.dimensions.length === 4) return scope.image(tensor, false);
    const value = scope.read(tensor);
    const padded = [...Array.from({ length: 4 - value.dims.length }, () => 1), ...value.dims];
    return transpose(builder, reshape(builder, value, padded), [0, 3, 1, 2]);
  });
  return { values, lower: (image) => ({ image }) };
}

/** The extents of a result whose operands broadcast. */
export function broadcastDims(values: readonly Value[]): number[] {
  const rank = Math.max(...values.map(({ dims }) => dims.length));
  return Array.from({ length: rank }, (_, axis) => {
    const extents = values.map(({ dims }) => dims[dims.length - rank + axis] ?? 1);
    return extents.find((extent) => extent !== 1) ?? 1;
  });
}

/** An elementwise computation on real numbers. */
export function onReals(
  scope: Scope,
  tensors: readonly KernelTensor[],
  output: TensorInfo,
  compute: (values: readonly Value[], dims: readonly number[]) => Value,
): Lowered {
  for (const tensor of [...tensors, output]) if (!isReal(tensor)) refuse(`${typeName(tensor)} is not available`);
  const { values, lower: lowered } = align(scope, tensors, output.dimensions.length);
  const reals = values.map((value, place) => {
    const tensor = tensors[place];
    return tensor === undefined ? value : dequantise(scope, value, tensor);
  });
  return lowered(quantise(scope, compute(reals, broadcastDims(values)), output));
}

/** The name of a tensor's type. */
export function typeName({ type }: TensorInfo): string {
  return typeof type === "string" ? type : type.name;
}

/** The numbers of a constant tensor; refuses one that is not constant. */
export function numbersOf(name: string, { data }: Pick<KernelTensor, "data">): number[] {
  return data === undefined ? refuse(`${name} is not constant`) : Array.from<number | bigint, number>(data, Number);
}
