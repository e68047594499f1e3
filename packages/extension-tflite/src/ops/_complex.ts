/**
 * Operators of one tensor of complex numbers with a result of real numbers.
 */
import type { AnyOperandType, Phase, TensorData } from "@nnhal/operations";
import { defineOperation, tensor } from "@nnhal/operations/authoring";
import { tfliteTypes } from "../types.ts";

const { TENSOR_COMPLEX128, TENSOR_COMPLEX64, TENSOR_FLOAT64 } = tfliteTypes;

const types: readonly (readonly ["1.2", AnyOperandType, AnyOperandType])[] = [
  ["1.2", TENSOR_COMPLEX64, "TENSOR_FLOAT32"],
  ["1.2", TENSOR_COMPLEX128, TENSOR_FLOAT64],
];

/** Defines one of the operators; `part`: the result of a number. */
export function realOfComplex<const Name extends string>(
  name: Name,
  code: number,
  summary: string,
  part: (real: number, imaginary: number) => number,
) {
  return defineOperation({
    name,
    code,
    summary,
    params: [tensor("input")],
    outputs: [tensor("output")],
    types,
    infer: ({ input }) => ({ output: { dimensions: input.dimensions } }),
    reference: ({ input }, { output }) => kernel(input.data, output.data, part),
  });
}

function kernel(numbers: TensorData, results: TensorData, part: (real: number, imaginary: number) => number): Phase {
  return {
    units: results.length,
    compute(first, end) {
      for (let index = first; index < end; index++) results[index] = part(numbers[2 * index], numbers[2 * index + 1]);
    },
  };
}
