/**
 * Convolutions and FULLY_CONNECTED. Floats are computed as NCHW, 8-bit images in their own order by the integer operators of onnxruntime.
 */
import type { KernelTensor } from "@nnhal/backend";
import { BIAS_UNIT, divideSums, whyIndivisible } from "@nnhal/backend/float32";
import {
  elementAt,
  elementCount,
  imageLayout,
  isFloat,
  type Padding,
  quantisedActivationRange,
  type TensorInfo,
} from "@nnhal/operations";
import type { ProductKind } from "../forms.ts";
import {
  addWholeNumber,
  type Builder,
  cast,
  integers,
  real,
  reshape,
  transpose,
  type Value,
} from "../graph/builder.ts";
import { toSigned } from "../graph/bytes.ts";
import { asLowered, isShifted, type Lowered, refuse, type Scope, zeroPointOf } from "../graph/scope.ts";
import type { Elements } from "../onnx/types.ts";
import type { Attribute } from "../onnx/write.ts";
import {
  activatedQuant8,
  applyActivation,
  isQuant8,
  multiplyScales,
  scaleConstant,
  subtractZeroPoint,
  typeName,
  zeroPointConstant,
} from "./_lowering.ts";

interface Summed {
  readonly input: KernelTensor;
  readonly bias: KernelTensor;
  readonly activation: number;
}

interface Convolution extends Summed, Padding {
  readonly filter: KernelTensor;
  readonly nchw: boolean;
  readonly strideWidth: number;
  readonly strideHeight: number;
}

interface Dilations {
  readonly dilationWidth: number;
  readonly dilationHeight: number;
}

interface One {
  readonly output: TensorInfo;
}

type Attributes = Readonly<Record<string, Attribute>>;

/** [outputs, height, width, inputs] as [outputs, inputs, height, width]. */
const outputsFirst = [0, 3, 1, 2];
/** [1, height, width, outputs] as [outputs, 1, height, width]; [outputs, height, width, inputs] as [inputs, outputs, height, width]. */
const lastFirst = [3, 0, 1, 2];

export function conv2d(args: Convolution & Dilations, { output }: One, scope: Scope): Lowered {
  return convolution(args, output, scope, outputsFirst, 1);
}

export function groupedConv2d(args: Convolution & { readonly groups: number }, { output }: One, scope: Scope): Lowered {
  return convolution({ ...args, dilationWidth: 1, dilationHeight: 1 }, output, scope, outputsFirst, args.groups);
}

export function depthwiseConv2d(args: Convolution & Dilations, { output }: One, scope: Scope): Lowered {
  const { channels } = imageLayout(args.input.dimensions, args.nchw);
  return convolution(args, output, scope, lastFirst, channels);
}

function convolution(
  args: Convolution & Dilations,
  output: TensorInfo,
  scope: Scope,
  order: readonly number[],
  group: number,
): Lowered {
  const { input, filter, bias, nchw, activation } = args;
  const { builder } = scope;
  const weights = transpose(builder, scope.read(filter), order);
  const attributes: Attributes = {
    kernel_shape: { ints: weights.dims.slice(2) },
    strides: { ints: [args.strideHeight, args.strideWidth] },
    pads: { ints: [args.paddingTop, args.paddingLeft, args.paddingBottom, args.paddingRight] },
    dilations: { ints: [args.dilationHeight, args.dilationWidth] },
    group: { int: group },
  };
  if (isFloat(input.type)) {
    const image = scope.image(input, nchw);
    const result = { type: "float32", dims: imageDims(output, nchw) } as const;
    const sums = builder.node("Conv", [image, weights, scope.read(bias)], result, { attributes });
    return asLowered(applyActivation(builder, sums, activation), nchw);
  }
  if (!isQuant8(input)) return refuse(`${typeName(input)} is not available`);
  ensureBiasScale(input, filter, bias);
  ensureSums(elementCount(weights.dims.slice(1)), bias);
  const options = nchw
    ? ({ attributes } as const)
    : ({ attributes: { ...attributes, channels_last: { int: 1 } }, domain: "com.microsoft" } as const);
  const inputs = [
    ...withQuantisation(builder, scope.read(input), input),
    ...weightsOf(scope, weights, filter, kindOf(weights, group)),
    scaleConstant(builder, output),
    zeroPointConstant(builder, output),
    scope.read(bias),
  ];
  const sums = builder.node("QLinearConv", inputs, { type: "uint8", dims: output.dimensions }, options);
  return activatedQuant8(builder, sums, activation, output);
}

/** The extents of an image as NCHW. */
function imageDims({ dimensions }: TensorInfo, nchw: boolean): readonly number[] {
  const { batches, channels, height, width } = imageLayout(dimensions, nchw);
  return [batches, channels, height, width];
}

function withQuantisation(builder: Builder, value: Value, info: TensorInfo): readonly [Value, Value, Value] {
  return [value, scaleConstant(builder, info), zeroPointConstant(builder, info)];
}

/** The engine has kernels of their own for depthwise convolutions, in which each channel makes one. */
function kindOf({ dims: [outputs, inputs] }: Value, group: number): ProductKind {
  if (group === 1) return "convolution";
  return outputs === group && inputs === 1 ? "depthwise convolution" : "grouped convolution";
}

/**
 * Weights of 8 bits with scale and zero point. Constant ones become signed where products of unsigned activations and signed weights are
 * exact, since processors with instructions for products take them so; else all are unsigned.
 */
function weightsOf(
  { builder, forms }: Scope,
  value: Value,
  info: TensorInfo,
  kind: ProductKind,
): readonly [Value, Value, Value] {
  const form = forms.products(kind);
  if (typeof form === "object") return refuse(form.refused);
  const { channelQuant } = info;
  if (channelQuant !== undefined) {
    const { scales } = channelQuant;
    const dims = [scales.length];
    const scale = builder.constant("float32", dims, () => Float32Array.from(scales));
    if (form === "u8s8") return [value, scale, builder.constant("int8", dims, () => new Int8Array(scales.length))];
    const middle = builder.constant("uint8", dims, () => new Uint8Array(scales.length).fill(128));
    return [toUnsigned(builder, value), scale, middle];
  }
  const { elements } = value;
  if (value.type !== "uint8" || elements === undefined) return withQuantisation(builder, value, info);
  // onnxruntime may change weights together with their zero point, and fails if two have the same constant.
  const zeroPoint = zeroPointOf(info);
  if (form === "u8u8") {
    return [value, scaleConstant(builder, info), builder.constant("uint8", [], () => Uint8Array.of(zeroPoint))];
  }
  const unsigned = () => bytesOf(elements());
  const signed = builder.constant("int8", value.dims, () => toSigned(unsigned()), unsigned);
  return [signed, scaleConstant(builder, info), builder.constant("int8", [], () => Int8Array.of(zeroPoint - 128))];
}

function bytesOf({ buffer, byteOffset, byteLength }: Elements): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Signed bytes with 128 added. */
function toUnsigned(builder: Builder, value: Value): Value {
  const { dims, elements } = value;
  // Adding 128 changes the top bit, as subtracting it does.
  if (elements !== undefined) return builder.constant("uint8", dims, () => bytesOf(toSigned(bytesOf(elements()))));
  const bytes = cast(builder, value, "uint8");
  return builder.node("BitwiseXor", [bytes, addWholeNumber(builder, "uint8", 128)], bytes);
}

/** The operators of onnxruntime take a bias whose scale is the product of the others. */
function ensureBiasScale(input: TensorInfo, weights: TensorInfo, bias: TensorInfo): void {
  if (weights.channelQuant !== undefined) return;
  const unit = Math.fround(input.scale * weights.scale);
  if (Math.abs(unit - bias.scale) > 1e-6 * Math.min(unit, bias.scale)) {
    refuse(`the scale of the bias: expected input scale * filter scale = ${unit}, got ${bias.scale}`);
  }
}

/**
 * The operators of onnxruntime sum in 32 bits. `products` is how many a sum has. A bias that is not constant is not checked: networks
 * have none that is so large.
 */
function ensureSums(products: number, { data }: KernelTensor): void {
  const room = 2 ** 31 - 1 - products * 255 * 255;
  for (const each of data ?? []) {
    if (Math.abs(each) > room) refuse(`the bias has ${each}: sums of ${products} products of bytes may exceed 32 bits`);
  }
  if (room < 0) refuse(`sums of ${products} products of bytes may exceed 32 bits`);
}

export function transposeConv2d(args: Convolution, { output }: One, scope: Scope): Lowered {
  const { input, filter, bias, nchw, activation } = args;
  const { builder } = scope;
  if (isFloat(input.type)) {
    const image = scope.image(input, nchw);
    const sums = spread(
      args,
      output,
      scope,
      image,
      transpose(builder, scope.read(filter), lastFirst),
      scope.read(bias),
    );
    return asLowered(applyActivation(builder, sums, activation), nchw);
  }
  if (!isQuant8(input)) return refuse(`${typeName(input)} is not available`);
  ensureBiasScale(input, filter, bias);
  const indivisible = whyIndivisible({ input, weights: filter, axis: 0 }, bias);
  if (indivisible !== undefined) return refuse(indivisible);
  const units = accumulate(args, output, scope);
  // As the reference: each sum is rounded to float32, scaled, and rounded to the nearest whole number, ties to even.
  const scales = filter.channelQuant?.scales ?? [filter.scale];
  const multipliers = scales.map((each) => Math.fround(input.scale * each) / output.scale);
  const steps = builder.node(
    "Round",
    [multiplyScales(builder, units, multipliers, [1, multipliers.length, 1, 1])],
    units,
  );
  const [least, greatest] = quantisedActivationRange(activation, output).map((bound) => real(builder, bound));
  const placed = builder.node("Add", [steps, real(builder, output.zeroPoint)], steps);
  const bounded = builder.node("Clip", [placed, least, greatest], placed);
  const shifted = isShifted(output.type) ? builder.node("Add", [bounded, real(builder, 128)], bounded) : bounded;
  return asLowered(cast(builder, shifted, "uint8"), nchw);
}

/**
 * The sums of the whole numbers less their zero points, which are exact until they are rounded to float32. If some can go beyond 2^24, the
 * weights are divided into digits, and the bias into two parts: see `SumParts`.
 */
function accumulate(args: Convolution, output: TensorInfo, scope: Scope): Value {
  const { input, filter, bias, nchw } = args;
  const { builder } = scope;
  const image = subtractZeroPoint(builder, scope.image(input, nchw), input);
  const weights = subtractZeroPoint(builder, transpose(builder, scope.read(filter), lastFirst), filter);
  const start = scope.read(bias);
  const parts = divideSums({ input, weights: filter, axis: 0 }, bias);
  if (parts === undefined) return spread(args, output, scope, image, weights, cast(builder, start, "float32"));
  const apply = (operator: string, value: Value, by: number) =>
    builder.node(operator, [value, real(builder, by)], value);
  const unit = addWholeNumber(builder, "int32", BIAS_UNIT);
  const high = builder.node("Mul", [builder.node("Div", [start, unit], start), unit], start);
  const low = cast(builder, builder.node("Sub", [start, high], start), "float32");
  const none = builder.constant("float32", start.dims, () => new Float32Array(elementCount(start.dims)));
  const { base = 1, places = 1, constants } = parts.digits ?? {};
  let others = weights;
  const sums = Array.from({ length: places }, (_, place) => {
    const own = constants?.[place];
    let digits = others;
    if (own !== undefined) {
      digits = transpose(
        builder,
        builder.constant("float32", filter.dimensions, () => own),
        lastFirst,
      );
    } else if (place < places - 1) {
      others = builder.node("Round", [apply("Div", digits, base)], digits);
      digits = builder.node("Sub", [digits, apply("Mul", others, base)], digits);
    }
    return spread(args, output, scope, image, digits, place === 0 ? low : none);
  });
  let [sum, multiple] = [elementAt(sums, 0), 1];
  let rest: Value | undefined;
  for (const next of sums.slice(1)) {
    const carried = builder.node("Floor", [apply("Div", sum, base)], sum);
    const left = apply("Mul", builder.node("Sub", [sum, apply("Mul", carried, base)], sum), multiple);
    rest = rest === undefined ? left : builder.node("Add", [rest, left], rest);
    sum = builder.node("Add", [next, carried], next);
    multiple *= base;
  }
  const starts = reshape(builder, cast(builder, high, "float32"), [1, elementAt(start.dims, 0), 1, 1]);
  const most = builder.node("Add", [apply("Mul", sum, multiple), starts], sum);
  return rest === undefined ? most : builder.node("Add", [most, rest], most);
}

/** A transposed convolution of an image with filters [inputs, outputs, height, width], as NCHW. */
function spread(args: Convolution, output: TensorInfo, scope: Scope, image: Value, weights: Value, bias: Value): Value {
  const { input, nchw } = args;
  const { builder } = scope;
  const from = imageLayout(input.dimensions, nchw);
  const to = imageLayout(output.dimensions, nchw);
  const rows = (from.height - 1) * args.strideHeight + elementAt(weights.dims, 2);
  const columns = (from.width - 1) * args.strideWidth + elementAt(weights.dims, 3);
  const [bottom, right] = [rows - args.paddingTop - to.height, columns - args.paddingLeft - to.width];
  // The output padding of the operator must be less than a stride.
  const behind = [
    Math.min(Math.max(0, -bottom), args.strideHeight - 1),
    Math.min(Math.max(0, -right), args.strideWidth - 1),
  ];
  const attributes: Attributes = {
    kernel_shape: { ints: weights.dims.slice(2) },
    strides: { ints: [args.strideHeight, args.strideWidth] },
    pads: { ints: [args.paddingTop, args.paddingLeft, Math.max(0, bottom), Math.max(0, right)] },
    output_padding: { ints: behind },
  };
  const dims = imageDims(output, nchw);
  const [batches = 0, channels = 0] = dims;
  const missing = [-bottom, -right].map((extent, axis) => Math.max(0, extent - elementAt(behind, axis)));
  if (to.height <= elementAt(missing, 0) || to.width <= elementAt(missing, 1)) {
    return refuse("an output that no filter reaches is not available");
  }
  const [height, width] = [to.height - elementAt(missing, 0), to.width - elementAt(missing, 1)];
  const result = { type: "float32", dims: [batches, channels, height, width] } as const;
  const of = (inputs: readonly Value[]) => builder.node("ConvTranspose", inputs, result, { attributes });
  return missing.some((extent) => extent > 0)
    ? withUnreached(scope, of([image, weights]), missing, bias)
    : of([image, weights, bias]);
}

/** An image [batches, channels, height, width] with rows and columns behind it that no filter reaches, and with the bias everywhere. */
function withUnreached({ builder }: Scope, image: Value, missing: readonly number[], bias: Value): Value {
  const dims = image.dims.map((extent, axis) => extent + (missing[axis - 2] ?? 0));
  const pads = integers(builder, [0, 0, 0, 0, 0, 0, ...missing]);
  const whole = builder.node("Pad", [image, pads], { type: image.type, dims });
  return builder.node("Add", [whole, reshape(builder, bias, [1, elementAt(dims, 1), 1, 1])], {
    type: image.type,
    dims,
  });
}

interface FullyConnected extends Summed {
  readonly weights: KernelTensor;
}

export function fullyConnected(args: FullyConnected, { output }: One, scope: Scope): Lowered {
  const { input, weights, bias, activation } = args;
  const { builder } = scope;
  const size = elementAt(weights.dimensions, 1);
  const rows = reshape(builder, scope.read(input), [elementCount(input.dimensions) / size, size]);
  const attributes: Attributes = { transB: { int: 1 } };
  if (isFloat(input.type)) {
    const result = { type: "float32", dims: output.dimensions } as const;
    const inputs = [rows, scope.read(weights), scope.read(bias)];
    return applyActivation(builder, builder.node("Gemm", inputs, result, { attributes }), activation);
  }
  if (!isQuant8(input)) return refuse(`${typeName(input)} is not available`);
  ensureBiasScale(input, weights, bias);
  ensureSums(size, bias);
  const inputs = [
    ...withQuantisation(builder, rows, input),
    ...weightsOf(scope, scope.read(weights), weights, "matrix product"),
    scope.read(bias),
    scaleConstant(builder, output),
    zeroPointConstant(builder, output),
  ];
  const result = { type: "uint8", dims: output.dimensions } as const;
  const sums = builder.node("QGemm", inputs, result, { attributes, domain: "com.microsoft" });
  return activatedQuant8(builder, sums, activation, output);
}
