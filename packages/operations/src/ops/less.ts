/**
 * LESS: whether the left element is less than the right one.
 */
import { comparison } from "./_comparison.ts";

export const less = comparison(
  "LESS",
  "Whether the left element is less than the right one, of tensors that broadcast.",
  {
    less: true,
    equal: false,
    greater: false,
    unordered: false,
  },
);
