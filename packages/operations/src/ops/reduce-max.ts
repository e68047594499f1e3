/**
 * REDUCE_MAX: the greatest element along some axes.
 */
import { floatAndQuant8Types } from "./_moved.ts";
import { defineReduction } from "./_reduction.ts";

export const reduceMax = defineReduction(
  "REDUCE_MAX",
  "The greatest element along some axes.",
  floatAndQuant8Types("1.2"),
  { start: Number.NEGATIVE_INFINITY, combine: Math.max, needsElements: true },
);
