/**
 * SQUEEZE for all types and ranks.
 */
import { complexTypes, realTypes } from "../_types.ts";
import { wider } from "../_wider.ts";

export const squeeze = wider("SQUEEZE", {
  from: "TENSOR_FLOAT32",
  types: [...realTypes, ...complexTypes],
  ranks: { input: [1, Number.POSITIVE_INFINITY] },
});
