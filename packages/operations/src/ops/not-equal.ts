/**
 * NOT_EQUAL: whether the left element differs from the right one.
 */
import { comparison } from "./_comparison.ts";

export const notEqual = comparison(
  "NOT_EQUAL",
  "Whether the left element differs from the right one, of tensors that broadcast.",
  {
    less: true,
    equal: false,
    greater: true,
    unordered: true,
  },
);
