/**
 * GREATER of 8-bit, 16-bit and 64-bit elements.
 */
import { comparison } from "./_comparison.ts";

export const greater = comparison("GREATER", (order) => order > 0);
