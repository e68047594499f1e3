/**
 * STABLEHLO_MAXIMUM in all types.
 */
import { stablehloPair, stablehloTypes } from "./_stablehlo-pair.ts";

export const stablehloMaximum = stablehloPair({
  name: "STABLEHLO_MAXIMUM",
  code: 1166,
  summary: "The greater of the elements at each place of two tensors of one shape.",
  types: stablehloTypes,
  functions: () => ({
    real: Math.max,
    integer: Math.max,
    long: (left, right) => (left > right ? left : right),
  }),
});
