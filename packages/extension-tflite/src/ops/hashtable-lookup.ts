/**
 * HASHTABLE_LOOKUP for all types.
 */
import { realTypes } from "../_types.ts";
import { wider } from "../_wider.ts";

export const hashtableLookup = wider("HASHTABLE_LOOKUP", { from: "TENSOR_FLOAT32", types: realTypes });
