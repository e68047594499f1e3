/**
 * REDUCE_MAX and REDUCE_MIN. Elements are compared as they are: operands have one quantisation.
 */
import { arithmeticTypes } from "../_types.ts";
import { type Combination, combineAll, reduction } from "./_reduction.ts";

/** Defines one of the operations. */
export function reductionExtreme<const Name extends "REDUCE_MAX" | "REDUCE_MIN">(name: Name, combination: Combination) {
  return reduction(name, {
    types: arithmeticTypes,
    needsElements: true,
    kernel: (input, { reduced }, output) => combineAll(input, reduced, output, combination),
  });
}
