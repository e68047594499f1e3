/**
 * ARGMIN: the place of the least element along an axis, the first of several.
 */
import { defineArgExtreme } from "./_arg-extreme.ts";

export const argmin = defineArgExtreme(
  "ARGMIN",
  "The place of the least element along an axis, the first of several.",
  (element, best) => element < best,
);
