/**
 * STABLEHLO_AND of integers and booleans.
 */
import { integerTypes, quantisedTypes } from "../_types.ts";
import { stablehloPair } from "./_stablehlo-pair.ts";

export const stablehloAnd = stablehloPair({
  name: "STABLEHLO_AND",
  code: 1176,
  summary: "The bits that the elements of two tensors of one shape have in common.",
  types: [...integerTypes, ...quantisedTypes, "TENSOR_BOOL8"],
  functions: (type) => ({
    integer:
      type === "TENSOR_BOOL8" ? (left, right) => Number(left !== 0 && right !== 0) : (left, right) => left & right,
    long: (left, right) => left & right,
  }),
});
