/**
 * EQUAL: whether the left element equals the right one.
 */
import { comparison } from "./_comparison.ts";

export const equal = comparison("EQUAL", "Whether the left element equals the right one, of tensors that broadcast.", {
  less: false,
  equal: true,
  greater: false,
  unordered: false,
});
