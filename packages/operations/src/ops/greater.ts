/**
 * GREATER: whether the left element is greater than the right one.
 */
import { comparison } from "./_comparison.ts";

export const greater = comparison(
  "GREATER",
  "Whether the left element is greater than the right one, of tensors that broadcast.",
  {
    less: false,
    equal: false,
    greater: true,
    unordered: false,
  },
);
