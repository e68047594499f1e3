/**
 * CAST between all types. Quantised elements count as the integers that they are stored as. Fractions are truncated, and a real number outside
 * the range of an integer type becomes the nearest one inside (NaN the greatest); integers outside it wrap. All but 0 is true. A complex number
 * counts as its real part.
 */

import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { type AnyOperandType, type AnyTensorData, isSameType, numbersPerElement } from "../operand-type.ts";
import { tensor, wide } from "../params.ts";
import { combineDimensions, formatShape } from "../shape.ts";
import { tfliteTypes } from "../tflite-types.ts";
import { copyElements } from "./_copies.ts";
import { isLongs, movable } from "./_integers.tflite.ts";
import { realTypes } from "./_types.tflite.ts";

const types = [...realTypes, tfliteTypes.TENSOR_COMPLEX64] as const;

export const cast = defineOperation({
  name: "CAST",
  code: OperationType.CAST,
  summary: "The same numbers in another type.",
  params: [wide(tensor("input"))],
  outputs: [wide(tensor("output"))],
  types: [
    ...types.flatMap((from) => types.map((to) => ["1.2", from, to] as const)),
    // A copy.
    ["1.2", tfliteTypes.TENSOR_STRING, tfliteTypes.TENSOR_STRING],
  ],
  check({ input }, { output }) {
    if (combineDimensions(input.dimensions, output.dimensions) !== undefined) return undefined;
    return `the output: expected the input's shape ${formatShape(input.dimensions)}, got ${formatShape(output.dimensions)}`;
  },
  infer: ({ input }) => ({ output: { dimensions: input.dimensions } }),
  reference({ input }, { output }) {
    if (isSameType(input.type, output.type)) return copyElements(movable(input.data), movable(output.data));
    const convert = conversion(input.data, output.type, output.data);
    const [from, to] = [numbersPerElement(input.type), numbersPerElement(output.type)];
    return {
      units: output.data.length / to,
      // A bigint is made for each 64-bit integer.
      cost: isLongs(input.data) || isLongs(output.data) ? 32 : 4,
      compute(first, end) {
        for (let index = first; index < end; index++) convert(index * from, index * to);
      },
    };
  },
});

/** Writes the number at one place of the input at another of the output. */
type Convert = (from: number, to: number) => void;

function conversion(input: AnyTensorData, type: AnyOperandType, output: AnyTensorData): Convert {
  if (type === "TENSOR_BOOL8") {
    return (from, to) => {
      output[to] = Number(input[from]) === 0 ? 0 : 1;
    };
  }
  const isFloat = input instanceof Float32Array || input instanceof Float64Array;
  if (isLongs(output)) {
    const isSigned = output instanceof BigInt64Array;
    const [least, greatest] = isSigned ? [-(2n ** 63n), 2n ** 63n - 1n] : [0n, 2n ** 64n - 1n];
    return (from, to) => {
      const value = input[from];
      output[to] = typeof value === "number" && isFloat ? longInside(value, least, greatest) : BigInt(value);
    };
  }
  if (output instanceof Float32Array || output instanceof Float64Array) {
    return (from, to) => {
      output[to] = Number(input[from]);
    };
  }
  const bits = 8 * output.BYTES_PER_ELEMENT;
  const isSigned = output instanceof Int8Array || output instanceof Int16Array || output instanceof Int32Array;
  const [least, greatest] = isSigned ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] : [0, 2 ** bits - 1];
  return (from, to) => {
    const value = input[from];
    // A typed array keeps the low bits of an integer.
    if (typeof value === "bigint") output[to] = Number(BigInt.asIntN(32, value));
    else output[to] = isFloat ? inside(value, least, greatest) : value;
  };
}

function inside(value: number, least: number, greatest: number): number {
  if (Number.isNaN(value) || value >= greatest) return greatest;
  return value <= least ? least : Math.trunc(value);
}

function longInside(value: number, least: bigint, greatest: bigint): bigint {
  if (Number.isNaN(value) || value >= Number(greatest)) return greatest;
  return value <= Number(least) ? least : BigInt(Math.trunc(value));
}
