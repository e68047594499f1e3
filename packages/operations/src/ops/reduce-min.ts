/**
 * REDUCE_MIN: the least element along some axes.
 */
import { floatAndQuant8Types } from "./_moved.ts";
import { defineReduction } from "./_reduction.ts";

export const reduceMin = defineReduction(
  "REDUCE_MIN",
  "The least element along some axes.",
  floatAndQuant8Types("1.2"),
  { start: Number.POSITIVE_INFINITY, combine: Math.min, needsElements: true },
);
