/**
 * STABLEHLO_ADD in all types.
 */
import { stablehloPair, stablehloTypes } from "./_stablehlo-pair.ts";

export const stablehloAdd = stablehloPair({
  name: "STABLEHLO_ADD",
  code: 1163,
  summary: "The sums of the elements of two tensors of one shape; integers wrap.",
  types: stablehloTypes,
  functions: () => ({
    real: (left, right) => left + right,
    integer: (left, right) => left + right,
    long: (left, right) => left + right,
  }),
});
