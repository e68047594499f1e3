/**
 * BITWISE_XOR of integers.
 */
import { smallIntegerTypes } from "../_types.ts";
import { pair } from "./_pair.ts";

export const bitwiseXor = pair({
  name: "BITWISE_XOR",
  code: 1160,
  summary: "The bits in which the elements differ, of tensors that broadcast.",
  types: smallIntegerTypes,
  functions: () => ({ integer: (left, right) => left ^ right }),
});
