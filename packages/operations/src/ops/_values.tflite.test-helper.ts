/**
 * Operands of tests, and what an operation makes of them.
 */
import type { AnyOperandType, AnyTensorData } from "../operand-type.ts";
import { dataConstructor } from "../tensor.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { type DeclaredOutput, type GivenInput, runOperation } from "./_run.tflite.test-helper.ts";

/** A tensor of a type; 64-bit integers are given as numbers. */
export function tensorOf(type: AnyOperandType, dimensions: readonly number[], values: readonly number[]): GivenInput {
  return { type, dimensions, data: dataOf(type, values), ...(isQuantised(type) && { scale: 1 }) };
}

/** Elements of a type. */
export function dataOf(type: AnyOperandType, values: readonly number[]): AnyTensorData {
  if (type === tfliteTypes.TENSOR_INT64) return BigInt64Array.from(values, BigInt);
  if (type === tfliteTypes.TENSOR_UINT64) return BigUint64Array.from(values, BigInt);
  const data = new (dataConstructor(type))(values.length);
  data.set(values);
  return data;
}

/** Tensors of the types that tests use most. Without values: 0, 1, 2, …. */
export const floats = (dimensions: readonly number[], values = upTo(dimensions)) =>
  tensorOf("TENSOR_FLOAT32", dimensions, values);
export const ints = (dimensions: readonly number[], values = upTo(dimensions)) =>
  tensorOf("TENSOR_INT32", dimensions, values);
export const longs = (dimensions: readonly number[], values = upTo(dimensions)) =>
  tensorOf(tfliteTypes.TENSOR_INT64, dimensions, values);
export const bools = (dimensions: readonly number[], values: readonly number[]) =>
  tensorOf("TENSOR_BOOL8", dimensions, values);

/** A one-dimensional tensor of INT32. */
export const list = (...values: readonly number[]) => ints([values.length], values);
/** The same of INT64. */
export const longList = (...values: readonly number[]) => longs([values.length], values);

/** As many numbers from 0 on as a shape has elements. */
export function upTo(dimensions: readonly number[]): readonly number[] {
  return Array.from({ length: dimensions.reduce((product, extent) => product * extent, 1) }, (_, index) => index);
}

/** The dimensions of the first result, and its elements as numbers; `type`: of the result, by default that of the first operand. */
export async function resultOf(
  name: string,
  inputs: readonly (GivenInput | undefined)[],
  type = inputs[0]?.type ?? "TENSOR_FLOAT32",
  declared: Partial<DeclaredOutput> = {},
): Promise<[dimensions: readonly number[], elements: readonly number[]]> {
  const [first] = await resultsOf(name, inputs, [{ type, ...(isQuantised(type) && { scale: 1 }), ...declared }]);
  return first;
}

/** The dimensions of each result, and its elements as numbers. */
export async function resultsOf(
  name: string,
  inputs: readonly (GivenInput | undefined)[],
  outputs: readonly DeclaredOutput[],
): Promise<[dimensions: readonly number[], elements: readonly number[]][]> {
  const results = await runOperation(name, inputs, outputs);
  return results.map(({ dimensions, data }) => [dimensions, Array.from<number | bigint, number>(data, Number)]);
}

function isQuantised(type: AnyOperandType): boolean {
  return typeof type === "string" && type.startsWith("TENSOR_QUANT");
}
