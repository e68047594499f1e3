/**
 * STABLEHLO_MULTIPLY in all types.
 */
import { stablehloPair, stablehloTypes } from "./_stablehlo-pair.ts";

export const stablehloMultiply = stablehloPair({
  name: "STABLEHLO_MULTIPLY",
  code: 1165,
  summary: "The products of the elements of two tensors of one shape; integers wrap.",
  types: stablehloTypes,
  functions: () => ({
    real: (left, right) => left * right,
    integer: Math.imul,
    long: (left, right) => left * right,
  }),
});
