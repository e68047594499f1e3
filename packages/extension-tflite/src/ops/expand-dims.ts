/**
 * EXPAND_DIMS for all types; the axis may be computed, and 64-bit.
 */
import { indexTypes } from "../_integers.ts";
import { complexTypes, realTypes } from "../_types.ts";
import { wider } from "../_wider.ts";

export const expandDims = wider("EXPAND_DIMS", {
  from: "TENSOR_FLOAT32",
  types: [...realTypes, ...complexTypes],
  integers: { names: ["axis"], types: indexTypes },
});
