/**
 * STABLEHLO_MINIMUM in all types.
 */
import { stablehloPair, stablehloTypes } from "./_stablehlo-pair.ts";

export const stablehloMinimum = stablehloPair({
  name: "STABLEHLO_MINIMUM",
  code: 1181,
  summary: "The lesser of the elements at each place of two tensors of one shape.",
  types: stablehloTypes,
  functions: () => ({
    real: Math.min,
    integer: Math.min,
    long: (left, right) => (left < right ? left : right),
  }),
});
