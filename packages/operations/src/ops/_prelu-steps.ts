/**
 * PRELU of 8 bits in whole numbers: elements of one sign are rescaled from the input's scale, those of the other from the product of the two
 * scales.
 */
import { multiplyByQuantisedMultiplier, quantiseMultiplier } from "../fixed-point.ts";
import type { TensorInfo } from "../tensor.ts";

/** Steps of the output, less its zero point and not within its range. Both functions grow with their argument. */
export interface PreluSteps {
  /** From an element of the input less its zero point, at least 0. */
  positive(value: number): number;
  /** From the product of an element below 0 and that of alpha, each less its zero point. */
  negative(product: number): number;
  /** The steps that a product of 1 makes, not rounded. */
  readonly perProduct: number;
}

/** The steps for the scales of the operands. */
export function preluSteps(
  input: Pick<TensorInfo, "scale">,
  alpha: Pick<TensorInfo, "scale">,
  output: Pick<TensorInfo, "scale">,
): PreluSteps {
  const perProduct = Math.fround(input.scale * alpha.scale) / output.scale;
  const multipliers = {
    positive: quantiseMultiplier(Math.fround(input.scale / output.scale)),
    negative: quantiseMultiplier(perProduct),
  };
  return {
    positive: (value) => multiplyByQuantisedMultiplier(value, multipliers.positive),
    negative: (product) => multiplyByQuantisedMultiplier(product, multipliers.negative),
    perProduct,
  };
}
