/**
 * MAXIMUM and MINIMUM of the types that the HAL lacks, and of stored quantised elements; their quantisations are ignored.
 */
import { inferBroadcast } from "@nnhal/operations/authoring";
import { combineElements, type PairFunctions } from "../_elementwise.ts";
import { widerOf } from "../_wider.ts";
import { tfliteTypes } from "../types.ts";

/** Defines one of the operations. */
export function extreme<const Name extends "MAXIMUM" | "MINIMUM">(name: Name, functions: PairFunctions) {
  return widerOf<"MAXIMUM" | "MINIMUM", Name>(name, {
    from: "TENSOR_FLOAT32",
    types: ["TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM", tfliteTypes.TENSOR_INT64],
    infer: ({ left, right }) => inferBroadcast(left, right),
    reference: ({ left, right }, { output }) => combineElements(left, right, output, functions),
  });
}
