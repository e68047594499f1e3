/**
 * FIBONACCI: the first n numbers of the sequence 1, 1, 2, 3, 5, …, and the extension that it belongs to.
 */
import type { AnyTensorData } from "@nnhal/operations";
import { defineExtension, defineOperation, ensure, read, tensor, wide } from "@nnhal/operations/authoring";
import { INT64, name, type Quant64Params, TENSOR_QUANT64_ASYMM } from "./types.ts";

/** The longest sequence whose numbers a 64-bit integer can hold. */
const mostNumbers = 92;

const greatest = 2n ** 63n - 1n;
const least = -(2n ** 63n);

/** The number of elements that an operand asks for. Throws OperationError if it is not an integer within [1, 92]. */
export function countOf(data: AnyTensorData): number {
  const count = Number(data[0]);
  ensure(
    Number.isInteger(count) && count >= 1 && count <= mostNumbers,
    () => `n: expected an integer within [1, ${mostNumbers}], got ${count}`,
  );
  return count;
}

/** The first `count` Fibonacci numbers. */
export function fibonacciNumbers(count: number): bigint[] {
  const numbers: bigint[] = [];
  let [before, last] = [0n, 1n];
  for (let index = 0; index < count; index++) {
    numbers.push(last);
    [before, last] = [last, before + last];
  }
  return numbers;
}

/** The element for a number: divided by the scale, rounded to the nearest (halves up), plus the zero point, within 64 bits. */
export function quantise(value: bigint, { scale, zeroPoint }: Quant64Params): bigint {
  // With scale 1 the number may have more digits than a double keeps.
  const scaled = scale === 1 ? value : BigInt(Math.round(Number(value) / scale));
  const element = scaled + zeroPoint;
  return element > greatest ? greatest : element < least ? least : element;
}

/** `read`: the value of n determines the shape of the result. `wide`: n and the result may have 64-bit integers. */
export const FIBONACCI = defineOperation({
  name: "FIBONACCI",
  code: 0,
  summary: "The first n Fibonacci numbers.",
  params: [read(wide(tensor("n")))],
  outputs: [wide(tensor("sequence"))],
  types: [
    ["1.2", INT64, TENSOR_QUANT64_ASYMM],
    ["1.2", INT64, "TENSOR_FLOAT32"],
    ["1.2", "TENSOR_FLOAT32", TENSOR_QUANT64_ASYMM],
    ["1.2", "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
  ],
  check({ n: { type, dimensions } }) {
    const isOne = type !== "TENSOR_FLOAT32" || dimensions.every((extent) => extent <= 1);
    return isOne ? undefined : `n: expected one element, got [${dimensions}]`;
  },
  infer: ({ n }) => ({ sequence: { dimensions: [countOf(n.data)] } }),
  reference({ n }, { sequence: { data, params } }) {
    for (const [index, value] of fibonacciNumbers(countOf(n.data)).entries()) {
      // Only TENSOR_QUANT64_ASYMM has params: those of its codec.
      if (data instanceof BigInt64Array) data[index] = quantise(value, params as Quant64Params);
      else data[index] = Number(value);
    }
  },
});

/** The extension com.example.fibonacci: two operand types and one operation. */
export const fibonacci = defineExtension({
  name,
  operandTypes: { INT64, TENSOR_QUANT64_ASYMM },
  operations: [FIBONACCI],
});
