/**
 * LESS_EQUAL: whether the left element is less than the right one or equal.
 */
import { comparison } from "./_comparison.ts";

export const lessEqual = comparison(
  "LESS_EQUAL",
  "Whether the left element is less than the right one or equal, of tensors that broadcast.",
  {
    less: true,
    equal: true,
    greater: false,
    unordered: false,
  },
);
