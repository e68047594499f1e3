/**
 * GREATER_EQUAL: whether the left element is greater than the right one or equal.
 */
import { comparison } from "./_comparison.ts";

export const greaterEqual = comparison(
  "GREATER_EQUAL",
  "Whether the left element is greater than the right one or equal, of tensors that broadcast.",
  {
    less: false,
    equal: true,
    greater: true,
    unordered: false,
  },
);
