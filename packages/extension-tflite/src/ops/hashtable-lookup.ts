/**
 * HASHTABLE_LOOKUP for all types. A key that is not found yields zeros, which are empty strings.
 */
import { movesComplex } from "../_complex.ts";
import { realTypes } from "../_types.ts";
import { wider } from "../_wider.ts";
import { tfliteTypes } from "../types.ts";

export const hashtableLookup = movesComplex(
  wider("HASHTABLE_LOOKUP", {
    from: "TENSOR_FLOAT32",
    types: [...realTypes, tfliteTypes.TENSOR_STRING],
  }),
);
