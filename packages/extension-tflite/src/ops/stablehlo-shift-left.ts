/**
 * STABLEHLO_SHIFT_LEFT of integers. Distances below 0, and those of as many bits as the type has or more, leave 0.
 */
import { elementFactsOf } from "@nnhal/operations";
import { smallIntegerTypes } from "../_types.ts";
import { stablehloPair } from "./_stablehlo-pair.ts";

export const stablehloShiftLeft = stablehloPair({
  name: "STABLEHLO_SHIFT_LEFT",
  code: 1207,
  summary: "Each element shifted left by that of the second tensor of the same shape.",
  types: smallIntegerTypes,
  functions(type) {
    const bits = 8 * elementFactsOf(type).elementSize;
    return { integer: (value, distance) => (distance >= 0 && distance < bits ? value << distance : 0) };
  },
});
