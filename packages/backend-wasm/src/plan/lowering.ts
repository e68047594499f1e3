/** Helpers that the lowerings of operations share. */
import type { KernelTensor, OperationView } from "@nnhal/backend";
import {
  type AnyArgs,
  activationRange,
  elementCount,
  isFloat,
  type OperationArgs,
  type OperationName,
  type OperationOutputs,
  quantisedActivationRange,
  resolveAxis,
  type TensorInfo,
  typeText,
} from "@nnhal/operations";
import type { Builder, Value } from "./builder.ts";
import { accumulator, channel, convert, type Expression, makeInteger, on, within } from "./expression.ts";
import { refuse } from "./refusal.ts";

/** Adds the steps of an operation, and returns the values of its outputs in the order of the operand list. Throws a Refusal. */
export type Lowering<Args, Outputs> = (args: Args, outputs: Outputs, builder: Builder) => Value | readonly Value[];

/** Lowerings by the names of their operations. */
export type LoweringTable = {
  readonly [Name in OperationName]?: Lowering<OperationArgs<Name, KernelTensor>, OperationOutputs<Name, TensorInfo>>;
};

/** The lowering of an operation; undefined if there is none. */
export type Lowerings = (
  definition: Pick<OperationView["definition"], "name" | "extension">,
) => Lowering<AnyArgs, AnyArgs> | undefined;

/** Returns true if elements are 8-bit integers with one scale and one zero point. */
export function isQuant8({ type }: Pick<TensorInfo, "type">): boolean {
  return type === "TENSOR_QUANT8_ASYMM" || type === "TENSOR_QUANT8_ASYMM_SIGNED";
}

/** Refuses elements that are neither float32 nor of 8 bits. */
export function expectReal(info: TensorInfo): void {
  if (info.type !== "TENSOR_FLOAT32" && !isQuant8(info)) refuse(`${typeText(info.type)} is not available`);
}

/** Refuses elements that are not float32. */
export function expectFloat({ type }: TensorInfo): void {
  if (type !== "TENSOR_FLOAT32") refuse(`${typeText(type)} is not available`);
}

/** The constant elements of a tensor. */
export function constantOf(what: string, { data }: KernelTensor): ArrayLike<number> {
  if (data === undefined) return refuse(`${what} is not constant`);
  return data;
}

/** The result of a weighted sum of float32: the activation. */
export function finishedFloat(activation: number): Expression {
  return within(accumulator("f32"), ...activationRange(activation));
}

/**
 * The result of a weighted sum of integers, as the reference computes it: the sum as float32, times the multiplier of its channel in float32, to the
 * nearest integer, halves to the even one. Bounds that are whole numbers may come before the rounding. `largestSum`: no magnitude of a sum is greater.
 */
export function finishedQuant8(
  builder: Builder,
  multipliers: readonly number[],
  activation: number,
  output: TensorInfo,
  largestSum: number,
): Expression {
  const list = channel(builder.constant(fillTile(multipliers)), "f32", largestOf(multipliers));
  return requantise(on("mul", convert("toFloat", accumulator("i32", largestSum)), list), activation, output);
}

/** A float in steps of the output's scale as its quantised integer, within the bounds of an activation. */
export function requantise(steps: Expression, activation: number, output: TensorInfo): Expression {
  const { zeroPoint } = output;
  const [least, greatest] = quantisedActivationRange(activation, output);
  const bounded = within(steps, least - zeroPoint, greatest - zeroPoint);
  return on("add", convert("round", bounded), makeInteger(zeroPoint));
}

/** The greatest magnitude. */
export function largestOf(numbers: readonly number[]): number {
  return numbers.reduce((most, each) => Math.max(most, Math.abs(each)), 0);
}

/** Numbers of channels, filled with 0 so that a whole tile can be read from any of them. */
export function fillTile(numbers: readonly number[]): Float32Array {
  const list = new Float32Array(Math.ceil(numbers.length / 32) * 32);
  list.set(numbers);
  return list;
}

/** The same of integers of 32 bits. */
export function fillTileOfIntegers(numbers: readonly number[]): Int32Array {
  const list = new Int32Array(Math.ceil(numbers.length / 32) * 32);
  list.set(numbers);
  return list;
}

/** The real value of one unit of the sum of each channel, over the output's scale: what the reference multiplies sums by. */
export function multipliersOf(
  input: TensorInfo,
  filter: TensorInfo,
  bias: TensorInfo,
  output: TensorInfo,
  channels: number,
): number[] {
  const scales = accumulatorScales(input, filter, bias, channels);
  const multipliers = scales.map((scale) => Math.fround(scale / output.scale));
  if (!multipliers.every(Number.isFinite)) refuse(`the output's scale ${output.scale} is too small for the sums`);
  return multipliers;
}

function accumulatorScales(input: TensorInfo, filter: TensorInfo, bias: TensorInfo, channels: number): number[] {
  if (filter.channelQuant !== undefined) {
    const { scales } = filter.channelQuant;
    if (scales.length !== channels) refuse(`the filter has ${scales.length} scales for ${channels} channels`);
    return scales.map((scale) => Math.fround(input.scale * scale));
  }
  const product = Math.fround(input.scale * filter.scale);
  if (!(Math.abs(product - bias.scale) <= 1e-6 * Math.min(product, bias.scale))) {
    refuse(`the scale of the bias: expected input scale * filter scale = ${product}, got ${bias.scale}`);
  }
  return new Array<number>(channels).fill(product);
}

/** Returns true if the elements of both tensors are floats. Refuses a mix. */
export function isFloatOperation(input: TensorInfo, output: TensorInfo): boolean {
  expectReal(input);
  expectReal(output);
  return isFloat(input.type);
}

/** The axis in the middle of three: those before it, itself, those after it. */
export function around(
  { dimensions }: Pick<TensorInfo, "dimensions">,
  axis: number,
): readonly [number, number, number] {
  const place = resolveAxis(axis, dimensions.length);
  return [elementCount(dimensions.slice(0, place)), dimensions[place] ?? 1, elementCount(dimensions.slice(place + 1))];
}
