/**
 * 16-bit elements from one scale to another, with the integer multipliers of .tflite's kernels: they round twice, which real numbers do not
 * show.
 */
import { clamp, effectiveScale, multiplyByQuantisedMultiplier, quantiseMultiplier } from "../fixed-point.ts";
import type { Phase } from "../phases.ts";
import { type AnyOutput, type AnyTensor, isPlain } from "./_elements.tflite.ts";
import { numbersIn } from "./_integers.tflite.ts";

/**
 * Returns whether the elements of both have 16 bits and at least one has a scale, so that they are scaled in integers.
 */
export function isScaled16(input: AnyTensor, output: AnyOutput): boolean {
  const operands = [input, output];
  return operands.every(({ type }) => type === "TENSOR_QUANT16_SYMM") && !operands.every(isPlain);
}

/** A product with `from` · `by` / `to` in integers. The operators compute that factor in numbers of 32 bits. */
export function scaling16(from: number, by: number, to: number): (element: number) => number {
  const factor = effectiveScale(from, by, to);
  const multiplier = quantiseMultiplier(Math.abs(factor));
  const sign = factor < 0 ? -1 : 1;
  return (element) => multiplyByQuantisedMultiplier(sign * element, multiplier);
}

/** Computes each element of the output from the element of the input; results are clamped to the type. */
export function mapScaled16(input: AnyTensor, output: AnyOutput, compute: (element: number) => number): Phase {
  // Both are of a type whose elements are numbers.
  const [from, to] = [numbersIn(input.data), numbersIn(output.data)];
  return {
    units: to.length,
    compute(first, end) {
      for (let index = first; index < end; index++) to[index] = clamp(compute(from[index]), -0x8000, 0x7fff);
    },
  };
}
