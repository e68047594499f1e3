/**
 * RESHAPE for all types and ranks.
 */
import { complexTypes, realTypes } from "../_types.ts";
import { wider } from "../_wider.ts";

export const reshape = wider("RESHAPE", {
  from: "TENSOR_FLOAT32",
  types: [...realTypes, ...complexTypes],
  ranks: { input: [0, Number.POSITIVE_INFINITY] },
});
