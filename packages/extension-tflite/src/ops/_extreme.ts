/**
 * MAXIMUM and MINIMUM of the types that the HAL lacks.
 */
import type { OperationTypes } from "@nnhal/operations";
import { combineElements, type PairFunctions } from "../_elementwise.ts";
import { wider } from "../_wider.ts";
import { tfliteTypes } from "../types.ts";

/** Defines one of the operations. */
export function extreme<const Name extends "MAXIMUM" | "MINIMUM">(name: Name, functions: PairFunctions) {
  const definition = wider<"MAXIMUM" | "MINIMUM">(name, {
    from: "TENSOR_FLOAT32",
    types: ["TENSOR_QUANT16_SYMM", tfliteTypes.TENSOR_INT64],
    reference: ({ left, right }, { output }) => combineElements(left, right, output, functions),
  });
  // It is made of the definition of this name.
  return definition as OperationTypes[Name];
}
