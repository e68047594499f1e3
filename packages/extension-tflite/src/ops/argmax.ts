/**
 * ARGMAX for the types of .tflite; the axis may be computed, and the result 64-bit.
 */
import { defineArgExtreme } from "../_arg-extreme.ts";

export const argmax = defineArgExtreme(
  "ARGMAX",
  "The place of the greatest element along an axis, the first of several.",
  (element, best) => element > best,
);
