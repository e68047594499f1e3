/**
 * LSH_PROJECTION of elements of any type, whose bytes are hashed, and with weights also if the result is sparse.
 */
import { integerTypes, quantisedTypes } from "../_types.ts";
import { wider } from "../_wider.ts";
import { tfliteTypes } from "../types.ts";

export const lshProjection = wider("LSH_PROJECTION", {
  // The rows with this type of the input, so that hashes and weights keep theirs.
  from: "TENSOR_QUANT8_ASYMM",
  types: ["TENSOR_FLOAT32", tfliteTypes.TENSOR_FLOAT64, ...integerTypes, ...quantisedTypes, "TENSOR_BOOL8"],
});
