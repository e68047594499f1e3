/**
 * Operators of one tensor of complex numbers with a result of real numbers.
 */
import { defineOperation } from "../define.ts";
import type { AnyOperandType } from "../operand-type.ts";
import { tensor } from "../params.ts";
import type { Phase } from "../phases.ts";
import type { TensorData } from "../tensor.ts";
import { tfliteTypes } from "../tflite-types.ts";

const { TENSOR_COMPLEX128, TENSOR_COMPLEX64, TENSOR_FLOAT64 } = tfliteTypes;

const types: readonly (readonly ["1.2", AnyOperandType, AnyOperandType])[] = [
  ["1.2", TENSOR_COMPLEX64, "TENSOR_FLOAT32"],
  ["1.2", TENSOR_COMPLEX128, TENSOR_FLOAT64],
];

/** Defines one of the operators; `part`: the result of a number. */
function realOfComplex<const Name extends string>(
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

/** The operators. */
export const complexParts = [
  realOfComplex("COMPLEX_ABS", 1135, "The magnitude of x.", Math.hypot),
  realOfComplex("IMAG", 1133, "The imaginary part of x.", (_, part) => part),
  realOfComplex("REAL", 1134, "The real part of x.", (part) => part),
] as const;
