/**
 * RIGHT_SHIFT of integers: signed ones keep their sign. Distances beyond the type's bits count as the nearest possible.
 */
import { elementFactsOf } from "@nnhal/operations";
import { smallIntegerTypes } from "../_types.ts";
import { pair } from "./_pair.ts";

export const rightShift = pair({
  name: "RIGHT_SHIFT",
  code: 1161,
  summary: "Each element shifted right by that of the second tensor, of tensors that broadcast.",
  types: smallIntegerTypes,
  functions({ type }) {
    const most = 8 * elementFactsOf(type).elementSize - 1;
    return { integer: (value, distance) => Math.floor(value / 2 ** Math.min(Math.max(distance, 0), most)) };
  },
});
