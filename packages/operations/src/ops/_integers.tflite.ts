/**
 * Operands of integers that determine shapes and places: axes, extents, indexes. They may be 64-bit, and a scalar is a tensor of one element.
 */

import { ensure } from "../fail.ts";
import type { AnyOperandType, AnyTensorData } from "../operand-type.ts";
import type { Tensor, TensorData } from "../tensor.ts";
import { tfliteTypes } from "../tflite-types.ts";

/** The types of lists of integers that most operators take. */
export const indexTypes = ["TENSOR_INT32", tfliteTypes.TENSOR_INT64] as const satisfies readonly AnyOperandType[];

/** Elements as numbers. 64-bit integers beyond 2^53 are rounded, which no extent or index reaches. */
export function numbersOf(data: AnyTensorData): TensorData {
  return isLongs(data) ? Float64Array.from(data, Number) : data;
}

/** A tensor with its elements as numbers. */
export function narrowElements(tensor: Tensor<AnyTensorData>): Tensor {
  return { ...tensor, data: numbersOf(tensor.data) };
}

/** The elements as a list of numbers. */
export function listOf({ data }: Tensor<AnyTensorData>): readonly number[] {
  return Array.from(numbersOf(data));
}

/** The number that an operand of one element holds. `name`: the operand's, for the message. */
export function oneNumber(name: string, { data }: Tensor<AnyTensorData>): number {
  ensure(data.length === 1, () => `${name}: expected 1 element, got ${data.length}`);
  return Number(data[0]);
}

/** Returns whether elements are 64-bit integers. */
export function isLongs(data: AnyTensorData): data is BigInt64Array | BigUint64Array {
  return data instanceof BigInt64Array || data instanceof BigUint64Array;
}

/** Elements that are numbers. Throws a TypeError for 64-bit integers. */
export function numbersIn(data: AnyTensorData): TensorData {
  if (isLongs(data)) throw new TypeError("expected elements that are numbers, got 64-bit integers");
  return data;
}

/** Elements that are 64-bit integers. Throws a TypeError for numbers. */
export function longsIn(data: AnyTensorData): BigInt64Array | BigUint64Array {
  if (!isLongs(data)) throw new TypeError("expected 64-bit integers, got numbers");
  return data;
}

/**
 * Elements for code that only copies them. 64-bit integers are copied as other numbers are, although the compiler does not know it.
 */
export function movable(data: AnyTensorData): TensorData {
  return data as TensorData;
}

/** Most numbers that a message writes; a hostile model may have millions. */
const MOST_SHOWN = 16;

/** `[1, 2, 3]`: how messages write a list. */
export function showList(values: readonly number[]): string {
  if (values.length <= MOST_SHOWN) return `[${values.join(", ")}]`;
  return `[${values.slice(0, MOST_SHOWN).join(", ")}, … (${values.length} numbers)]`;
}
