/**
 * ARGMAX: the place of the greatest element along an axis, the first of several.
 */
import { defineArgExtreme } from "./_arg-extreme.ts";

export const argmax = defineArgExtreme(
  "ARGMAX",
  "The place of the greatest element along an axis, the first of several.",
  (element, best) => element > best,
);
