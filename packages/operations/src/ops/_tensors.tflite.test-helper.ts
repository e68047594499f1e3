/**
 * Short forms of the inputs and outputs of tests.
 */
import type { AnyOperandType, AnyTensorData } from "../operand-type.ts";
import { dataConstructor, elementCount } from "../tensor.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { type DeclaredOutput, type GivenInput, runOperation } from "./_run.tflite.test-helper.ts";

/** The types by their names in .tflite. */
export const types = {
  float32: "TENSOR_FLOAT32",
  int8: "TENSOR_QUANT8_ASYMM_SIGNED",
  uint8: "TENSOR_QUANT8_ASYMM",
  int16: "TENSOR_QUANT16_SYMM",
  uint16: "TENSOR_QUANT16_ASYMM",
  int32: "TENSOR_INT32",
  bool: "TENSOR_BOOL8",
  int64: tfliteTypes.TENSOR_INT64,
  uint32: tfliteTypes.TENSOR_UINT32,
  float64: tfliteTypes.TENSOR_FLOAT64,
  complex64: tfliteTypes.TENSOR_COMPLEX64,
  complex128: tfliteTypes.TENSOR_COMPLEX128,
} as const satisfies Readonly<Record<string, AnyOperandType>>;

type TypeName = keyof typeof types;

const quantised: readonly TypeName[] = ["int8", "uint8", "int16", "uint16"];

/** A type with a quantisation; by default scale 1 and zero point 0 of a type that has one. */
export function of(type: TypeName, scale?: number, zeroPoint = 0): DeclaredOutput {
  return { type: types[type], scale: scale ?? (quantised.includes(type) ? 1 : 0), zeroPoint };
}

/** A tensor. Default shape: one axis. */
export function giveTensor(
  declared: DeclaredOutput,
  values: readonly (number | bigint)[],
  dimensions: readonly number[] = [values.length],
): GivenInput {
  return { ...declared, dimensions, data: elementsOf(declared.type, values) };
}

function elementsOf(type: AnyOperandType, values: readonly (number | bigint)[]): AnyTensorData {
  if (type === types.int64) return BigInt64Array.from(values, BigInt);
  const Data = dataConstructor(type);
  const data = new Data(values.length);
  data.set(values.map(Number));
  return data;
}

/** The elements of the only result of an operation. */
export async function elements(
  name: string,
  inputs: readonly (GivenInput | undefined)[],
  output: DeclaredOutput,
): Promise<(number | bigint)[]> {
  const [{ data }] = await runOperation(name, inputs, [output]);
  return [...(data as ArrayLike<number | bigint> & Iterable<number | bigint>)];
}

/** The shape of the only result. */
export async function shape(
  name: string,
  inputs: readonly (GivenInput | undefined)[],
  output: DeclaredOutput,
): Promise<readonly number[]> {
  const [{ dimensions, data }] = await runOperation(name, inputs, [output]);
  if (data.length < elementCount(dimensions)) throw new RangeError("the result has fewer elements than its shape");
  return dimensions;
}

/** `count` elements from the least to the greatest, evenly spaced. */
export function spread(least: number, greatest: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => Math.round(least + ((greatest - least) * index) / (count - 1)));
}

/** The element that stands for a real number: rounded, halves away from 0, and clamped. */
export function quantise(real: number, { type, scale = 1, zeroPoint = 0 }: DeclaredOutput): number {
  const [least, greatest] = type === types.uint8 ? [0, 255] : type === types.int8 ? [-128, 127] : [-32768, 32767];
  const units = Math.sign(real) * Math.round(Math.abs(real) / scale) + zeroPoint;
  return Math.min(Math.max(units, least), greatest);
}

/** The greatest difference of two lists of numbers; infinite if they differ in length. */
export function greatestDifference(a: readonly (number | bigint)[], b: readonly (number | bigint)[]): number {
  if (a.length !== b.length) return Number.POSITIVE_INFINITY;
  return Math.max(...a.map((value, index) => Math.abs(Number(value) - Number(b[index]))));
}
