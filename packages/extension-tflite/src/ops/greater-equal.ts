/**
 * GREATER_EQUAL of 8-bit, 16-bit and 64-bit elements.
 */
import { comparison } from "./_comparison.ts";

export const greaterEqual = comparison("GREATER_EQUAL", (order) => order >= 0);
